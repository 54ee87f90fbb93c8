import { describe, expect, test } from 'vitest'
import { renderExplanation } from '../../../../src/ui/cli/render/explain.ts'
import { textWidth } from '../../../../src/base/terminal/text.ts'
import type { Match, Story } from '../../../../src/operations/story.ts'

const ESCAPE = '\u001B[2J\u202E'

const rejectedBy = (text: string): Story['groups'][number]['reasons'][number] => ({
  code: 'rejected',
  params: {},
  until: 'decision',
  stops: false,
  facts: { run: 8, by: text, at: '2026-01-02T03:04:05.000Z', reason: text },
})

function storyOf(text: string): Story {
  const notice = {
    kind: 'user',
    id: text,
    code: 'value-kept',
    params: { from: text, fields: ['name'] },
  } as const
  return {
    result: 'one',
    sync: 'corp',
    who: text,
    kind: 'user',
    id: text,
    name: text,
    email: text,
    source: {
      error: null,
      server: 'ldap://ldap.example.org',
      searched: 'at and below dc=org',
      entries: [
        {
          kind: 'user',
          ids: [text],
          from: `uid=${text},dc=org`,
          standing: {
            bases: [`ou=${text}`],
            inBase: false,
            filter: `(cn=${text})`,
            inFilter: false,
            disabled: { rule: `(locked=${text})`, action: 'skip' },
          },
          fields: [
            {
              field: 'name',
              value: text,
              steps: [
                { kind: 'attribute', text: `cn has ${text}`, attribute: 'cn', values: [text] },
                { kind: 'result', text: `result: ${text}`, value: text },
              ],
            },
          ],
          members: undefined,
        },
      ],
      sameEmail: [{ id: text, name: text, from: text }],
      unreadable: [],
    },
    directory: { error: null, entry: { id: text, email: text, name: text } },
    difference: null,
    planned: null,
    reasons: [],
    question: null,
    groups: [{ run: 9, group: text, comes: true, reasons: [rejectedBy(text)] }],
    notices: [],
    lastRun: { run: 7, state: 'done', at: '2026-01-02T03:04:05.000Z', notices: [notice] },
    lastFailure: { run: 8, at: '2026-01-02T03:04:06.000Z', error: `no ${text}` },
    paused: { sync: 'corp', by: text, reason: text, since: '2026-01-02T03:04:05.000Z' },
    journal: [
      {
        run: 6,
        op: 'update-user',
        fingerprint: 'f',
        at: '2026-01-02T03:04:05.000Z',
        outcome: 'failed',
        status: 500,
        detail: `the service said ${text}`,
        why: null,
        undoes: null,
        approvedBy: text,
      },
    ],
    isAbsenceKnown: false,
    membership: 'off',
    configurationChange: null,
    completedRun: null,
    sameMembers: null,
    sharesEmails: false,
  }
}

test('nothing that a story shows is obeyed by a terminal', () => {
  for (const columns of [undefined, 80]) {
    const text = renderExplanation(storyOf(ESCAPE), columns).join('\n')
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/)
    expect(text).toContain(String.raw`\u001b[2J\u202e`)
  }
})

test('a story begins with the reason, ends with what to do, and fits the terminal', () => {
  const story = storyOf('a word and another one '.repeat(4).trim())
  for (const columns of [80, 120]) {
    const lines = renderExplanation(story, columns)
    expect(lines.filter((line) => textWidth(line) > columns)).toEqual([])
  }
  const lines = renderExplanation(storyOf('ana'), 120)
  expect(lines).toEqual([
    'ana (user ana) is at "uid=ana,dc=org", outside the bases of the sync ("ou=ana"), and is in the directory.',
    '',
    '  source       uid=ana,dc=org',
    '               not below ou=ana',
    '               not within (cn=ana)',
    '               disabled by (locked=ana)',
    '               shown by ldap://ldap.example.org',
    '               the same e-mail: ana (ana), ana',
    '  name         cn has ana',
    '  directory    ana, ana',
    '  groups       not added to ana in run 9: rejected by ana at 2026-01-02 03:04:05Z in run 8: ana',
    '  paused       corp has been paused since 2026-01-02 03:04:05Z by ana (ana); dirsyncd resume corp ends it',
    '  last run     run 8, failed 2026-01-02 03:04:06Z: no ana',
    '               run 7, done 2026-01-02 03:04:05Z',
    '               value-kept: the source has no usable name (ana); the directory keeps its own',
    '  journal      2026-01-02 03:04:05Z  run 6  update-user  failed (500), approved by ana: the service said ana',
    '',
    'Nothing is written while corp is paused; after dirsyncd resume corp, the next run does nothing.',
    'Move the entry in the source, or change the base of the sync.',
  ])
})

function linesOf(matches: readonly Match[]): string[] {
  return renderExplanation({ result: 'several', sync: 'corp', who: 'Ana', matches }, 100)
}

describe('several that fit', () => {
  const match: Match = { kind: 'user', id: 'a b', name: 'Ana', email: null, from: 'users.csv, row 2' }

  test('are listed, with the command that chooses one, quoted for a shell', () => {
    expect(linesOf([match, { ...match, id: 'c', email: 'c@x' }])).toEqual([
      '2 entries of corp may be meant by "Ana":',
      '',
      'KIND  ID   NAME  E-MAIL  FROM',
      'user  a b  Ana   -       users.csv, row 2',
      'user  c    Ana   c@x     users.csv, row 2',
      '',
      "Choose one by its ID: dirsyncd explain corp 'a b'",
    ])
  })

  test('say how to tell a user from a group, and how many more there are', () => {
    expect(linesOf([match, { ...match, kind: 'group' }]).at(-1)).toMatch(/^Add --kind/)
    const many = Array.from({ length: 23 }, (_, index) => ({ ...match, id: `u${index}` }))
    expect(linesOf(many)).toContain('… and 3 more')
  })

  test('without an id are chosen by where they are', () => {
    const lines = linesOf([
      { ...match, id: null },
      { ...match, id: null, from: 'users.csv, row 3' },
    ])
    expect(lines.at(-1)).toBe("Choose one by its FROM: dirsyncd explain corp 'users.csv, row 2'")
  })
})
