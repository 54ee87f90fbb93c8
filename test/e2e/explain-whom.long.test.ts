import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Somebody } from '../support/one-company.ts'
import { ALL_SOURCES, type Scene, type SourceKind, Stage } from '../support/scene.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage[Symbol.asyncDispose]())

const ana: Somebody = { id: 'ana', name: 'Ana Šimić', mail: 'ana@example.org' }
const ben: Somebody = { id: 'ben', name: 'Ben Stay', mail: 'ben@example.org' }

const jsonMatches = [
  { kind: 'user', id: 'ana', name: 'Ana Šimić', email: 'ana@example.org' },
  { kind: 'user', id: 'ana2', name: 'ana šimić', email: null },
]

describe.each(ALL_SOURCES)('in a source of the kind %s', (kind) => {
  let scene: Scene
  const jan: Somebody = { id: 'jan', name: 'Jan van Dyk', mail: 'jan@example.org' }

  beforeAll(async () => {
    scene = await stage.openScene(kind)
    await scene.write(
      [ana, ben, jan, { id: 'ana2', name: 'ana šimić' }, { id: 'sales', name: 'A person' }],
      [{ id: 'sales', name: 'Sales team', members: ['ana', 'ben'] }],
    )
    await scene.run()
  })

  test('several fit: a short list, exit code 1, and how to choose one', async () => {
    const { code, stdout } = await stage.site.run('explain', scene.sync, 'Ana Šimić')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^2 entries of \S+ may be meant by "Ana Šimić":\n\nKIND +ID +NAME +E-MAIL +FROM\nuser +ana +Ana Šimić/,
    )
    expect(stdout).toContain(`Choose one by its ID: dirsyncd explain ${scene.sync} ana`)
    const { lines } = await stage.site.json('explain', scene.sync, 'Ana Šimić')
    expect(lines).toMatchObject([{ result: 'several', who: 'Ana Šimić', matches: jsonMatches }])
  })

  test.each(['jan', 'JAN@Example.org', 'jan van dyk', 'van Dyk Jan', ' Jan van Dyk '])(
    'finds him by %j',
    async (who) => {
      expect(await scene.explain(who)).toMatchObject({
        result: 'one',
        kind: 'user',
        id: 'jan',
        verdict: { code: 'unchanged' },
      })
    },
  )

  test('finds somebody where the source has the entry', async () => {
    const { source } = await scene.explain('ben')
    expect(await scene.explain(source.entries[0]!.from)).toMatchObject({ id: 'ben' })
  })

  test('a group, and a user of the same id', async () => {
    expect(await scene.explain('sales team')).toMatchObject({
      kind: 'group',
      id: 'sales',
      verdict: {
        code: 'unchanged',
        sentence:
          kind === 'ldap'
            ? 'Sales team (group sales) is in the directory; the source lists 2 members, as many as the directory has; who the members are, only a run compares.'
            : 'Sales team (group sales) is in the directory as the source has it, with the same members.',
      },
      source: { entries: [{ members: 2 }] },
      directory: { entry: { members: ['ana', 'ben'] } },
    })
    expect(await stage.site.json('explain', scene.sync, 'sales')).toMatchObject({
      code: 1,
      lines: [{ result: 'several', matches: [{ kind: 'user' }, { kind: 'group' }] }],
    })
    expect(await scene.explain('sales', '--kind', 'user')).toMatchObject({ kind: 'user', name: 'A person' })
    expect(await scene.explain('sales', '--kind', 'group')).toMatchObject({
      kind: 'group',
      name: 'Sales team',
    })
  })

  test('nobody: says where it was searched, with exit code 1', async () => {
    const { code, stdout } = await stage.site.run('explain', scene.sync, 'no.one@example.org')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^Nobody knows "no\.one@example\.org": not the source \(searched .*\), not the directory/,
    )
    expect(stdout).toMatch(/Try the id, the e-mail, the full name or the DN\.\n$/)
  })

  test('says the same beside a daemon as without one', async () => {
    const alone = await stage.site.json('explain', scene.sync, 'jan')
    await using daemon = stage.site.start('start')
    await daemon.waitForOutput(/daemon started/)
    expect(await stage.site.json('explain', scene.sync, 'jan')).toEqual(alone)
    expect(await stage.site.json('explain', scene.sync, 'sales')).toMatchObject({
      code: 1,
      lines: [{ result: 'several' }],
    })
  })

  test('changes nothing', async () => {
    const before = await stage.site.json('runs')
    const sent = await stage.countWrites()
    await scene.write([{ ...jan, name: 'Jan Other' }, ben], [])
    expect(await scene.explain('jan')).toMatchObject({ verdict: { code: 'changed' } })
    expect(await scene.explain('ana')).toMatchObject({ next: expect.stringContaining('deletes it') })
    expect([await stage.site.json('runs'), await stage.countWrites()]).toEqual([before, sent])
  })
})

test('one story as people read it', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ana, ben], [{ ...ana, name: 'Ana Horvat' }, ben])
  await scene.write([{ ...ana, name: 'Ana Novak' }, ben])
  const { stdout } = await stage.site.run('explain', scene.sync, 'ana')
  expect(
    stdout
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME')
      .replaceAll(/run \d+/g, 'run N')
      .split('\n'),
  ).toEqual([
    'Ana Novak (user ana) is in the directory with other values than in the source: the name is "Ana Horvat" there and "Ana Novak" in the source.',
    '',
    `  source       ${scene.sync}-users.csv, row 2`,
    '  e-mail       mail has "ana@example.org"',
    '  name         name has "Ana Novak"',
    '  directory    Ana Horvat, ana@example.org',
    '  last run     run N, done TIME',
    '  journal      TIME  run N  update-user  applied (200)',
    '               TIME  run N  create-user  applied (201)',
    '',
    'The next run updates it, unless a guard or the evidence holds it.',
    `dirsyncd sync ${scene.sync} --user ana does it at once.`,
    '',
  ])
})

describe('ids and names that are dangerous', () => {
  const odd: Somebody = {
    id: "o'x $(id) a/b?c#d%2f;e",
    name: 'Red \u001B[31mAlert\u202E',
    mail: 'odd@example.org',
  }

  test.each(ALL_SOURCES)('are shown harmless, and commands quote them (%s)', async (kind) => {
    const scene = await stage.openScene(kind)
    await scene.write([odd, ben])
    const { code, stdout } = await stage.site.run('explain', scene.sync, odd.id)
    expect(code).toBe(0)
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/)
    expect(stdout).toContain(String.raw`\u001b[31m`)
    expect(stdout).toContain(String.raw`--user 'o'\''x $(id) a/b?c#d%2f;e'`)
    await scene.run()
    expect(await scene.explain(odd.id)).toMatchObject({ id: odd.id, directory: { entry: { id: odd.id } } })
    expect(await scene.explain('odd@example.org')).toMatchObject({ id: odd.id })
  })
})

describe('a side that is down is said in a sentence, and the rest is shown', () => {
  test('the directory', async () => {
    const scene = await stage.openScene('csv')
    await scene.runs([ana, ben])
    await scene.configure({ directory: { baseUrl: 'http://127.0.0.1:1' } })
    const story = await scene.explain('ana')
    expect(story).toMatchObject({
      verdict: {
        code: 'directory-unreadable',
        sentence: expect.stringMatching(/^The source has Ana Šimić \(user ana\), .*127\.0\.0\.1:1/),
      },
      source: { error: null, entries: [{ ids: ['ana'] }] },
      directory: { entry: null },
      todo: `dirsyncd check ${scene.sync} shows whether the directory can be read again.`,
    })
    expect(await stage.site.json('explain', scene.sync, 'cleo@example.org')).toMatchObject({
      code: 1,
      lines: [
        {
          result: 'nobody',
          verdict: {
            code: 'directory-unreadable',
            sentence: expect.stringMatching(/; but the directory cannot be asked now \(.*127\.0\.0\.1:1/),
          },
        },
      ],
    })
    await scene.configure({
      directory: { baseUrl: 'http://127.0.0.1:1' },
      entries: { users: { exclude: ['ana'] } },
    })
    expect((await scene.explain('ana')).verdict.code).toBe('excluded')
  })

  test.each<[SourceKind, object, RegExp]>([
    ['csv', { users: { path: './missing.csv', map: { external_id: 'id' } } }, /missing\.csv.*does not exist/],
    ['command', { command: ['false'] }, /"false"/],
    ['ldap', { url: 'ldap://127.0.0.1:1' }, /127\.0\.0\.1:1/],
  ])('the source (%s)', async (kind, source, why) => {
    const scene = await stage.openScene(kind)
    await scene.runs([ana, ben])
    await scene.configure({ source })
    for (const who of ['ana', 'ana@example.org']) {
      expect(await scene.explain(who)).toMatchObject({
        result: 'one',
        id: 'ana',
        verdict: { code: 'source-unreadable', sentence: expect.stringMatching(why) },
        directory: { entry: { email: 'ana@example.org' } },
        journal: [{ op: 'create-user', outcome: 'applied' }],
      })
    }
    expect(await stage.site.json('explain', scene.sync, 'nobody')).toMatchObject({
      code: 1,
      lines: [{ result: 'nobody', verdict: { code: 'source-unreadable' } }],
    })
  })
})

test('an e-mail of before finds who has another one now', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ana, ben], [{ ...ana, mail: 'ana.horvat@example.org' }, ben])
  expect(await scene.explain('ANA@example.org')).toMatchObject({
    id: 'ana',
    email: 'ana.horvat@example.org',
    verdict: { code: 'unchanged' },
  })
})

test('an entry without an id: the newest run of all', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([{ ...ana, id: '' }, ben])
  await stage.site.run('sync', scene.sync, '--user', 'ben')
  expect(await scene.explain('Ana Šimić')).toMatchObject({
    id: null,
    lastRun: { run: Number(await scene.lastRun()) - 1, state: 'done', notices: [] },
  })
})

test('an unknown sync is wrong usage', async () => {
  const scene = await stage.openScene('csv')
  expect(await stage.site.run('explain', 'nosync', 'ana')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining(scene.sync),
  })
})

test('a run of this entry alone counts as the last run about it, and for others it does not', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ana, ben])
  const whole = Number(await scene.lastRun())
  await scene.write([{ ...ana, name: 'Ana Horvat' }, ben])
  await stage.site.run('sync', scene.sync, '--user', 'ana')
  expect(await scene.explain('ana')).toMatchObject({
    verdict: { code: 'unchanged' },
    lastRun: { run: Number(await scene.lastRun()) },
  })
  expect(await scene.explain('ben')).toMatchObject({ lastRun: { run: whole } })
})

test('where the last run failed, or the configuration was changed since, the story says so', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ben])
  await scene.configure({ directory: { token: { command: ['echo', 'wrong'] } } })
  await scene.runs([ana, ben])
  const failed = await scene.lastRun()
  await scene.configure()
  expect(await scene.explain('ana')).toMatchObject({
    verdict: {
      code: 'failed',
      sentence: expect.stringMatching(
        new RegExp(
          `^Ana Šimić \\(user ana\\) is in the source, and not in the directory yet; run ${failed} failed: .*401`,
        ),
      ),
    },
    lastFailure: { run: Number(failed) },
    next: 'The next run creates it, unless a guard or the evidence holds it; its e-mail is not written while somebody else there keeps it.',
  })
  await scene.run()
  expect(await scene.explain('ana')).toMatchObject({ verdict: { code: 'unchanged' }, lastFailure: null })
  const good = await scene.lastRun()
  await scene.write([{ ...ana, name: 'Ana Horvat' }, ben])
  await scene.configure({ directory: { emails: 'shared' } })
  expect((await scene.explain('ana')).next).toContain(
    `the configuration was changed since run ${good} (directory.emails)`,
  )
})
