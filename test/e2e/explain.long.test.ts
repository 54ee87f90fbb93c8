import { judgementOf } from '../../src/ui/messages/explain/verdict.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Somebody } from '../support/one-company.ts'
import { ALL_SOURCES, type Scene, type SourceKind, Stage } from '../support/scene.ts'
import { NO_GUARDS } from '../support/sync-config.ts'

/** Only these have a base, a filter and disabled accounts. */
const LDAP: readonly SourceKind[] = ['ldap']

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage[Symbol.asyncDispose]())

const ana: Somebody = { id: 'ana', name: 'Ana Šimić', mail: 'ana@example.org' }
const ben: Somebody = { id: 'ben', name: 'Ben Stay', mail: 'ben@example.org' }

interface Scenario {
  readonly title: string
  /** Default: all. */
  readonly sources?: readonly SourceKind[]
  /** Default: `ana`. */
  readonly who?: string
  readonly act: (scene: Scene) => Promise<void>
  readonly verdict: { readonly code: string; readonly sentence: RegExp }
  readonly next: RegExp
  readonly todo?: RegExp
}

/** Verdicts that depend on the source or the store; those of plain data are cases of `test/unit/operations/explain.test.ts`. */
const SCENARIOS: readonly Scenario[] = [
  {
    title: 'outside the filter, and in the directory',
    sources: LDAP,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.write([{ ...ana, place: 'left' }, ben])
    },
    verdict: {
      code: 'left-filter',
      sentence: /is outside the sync's filter .*, and is in the directory/,
    },
    next: /deletes it/,
    todo: /meets the filter/,
  },
  {
    title: 'disabled',
    sources: LDAP,
    act: (scene) => scene.runs([{ ...ana, place: 'locked' }, ben]),
    verdict: {
      code: 'disabled',
      sentence:
        /^Ana Šimić \(user ana\) is disabled in the source by \(employeeType=locked\) and so counts as absent/,
    },
    next: /does nothing/,
    todo: /Enable the account/,
  },
  {
    title: 'at another base',
    sources: LDAP,
    act: (scene) => scene.runs([{ ...ana, place: 'elsewhere' }, ben]),
    verdict: {
      code: 'other-base',
      sentence: /is at "employeeNumber=0,ou=out,.*outside the bases/,
    },
    next: /does nothing/,
    todo: /change the base/,
  },
  {
    title: 'written without the e-mail of another domain',
    act: async (scene) => {
      await scene.configure({ directory: { allowedDomains: ['example.org'], dropBadEmails: true } })
      await scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben])
    },
    verdict: {
      code: 'email-dropped',
      sentence:
        /is in the directory without an e-mail; the e-mail ana@elsewhere\.example is outside the allowed domains/,
    },
    next: /changes nothing of it but its groups/,
    todo: /^Correct the e-mail in the source, or add its domain to directory\.allowedDomains\.$/,
  },
  {
    title: 'two entries with one id',
    act: (scene) => scene.runs([ana, ben, { ...ana, name: 'Ana Other', mail: 'other@example.org' }]),
    who: 'Ana Other',
    verdict: {
      code: 'duplicate-id',
      sentence: /it cannot be used: .*: the id "ana" is also used by "/,
    },
    next: /leaves it as it is/,
    todo: /an id of its own/,
  },
  {
    title: 'an entry without an id',
    act: (scene) => scene.runs([{ ...ana, id: '' }, ben]),
    who: 'Ana Šimić',
    verdict: {
      code: 'unreadable',
      sentence:
        /^Ana Šimić \(user without an id\) is in the source, and not in the directory; it cannot be used: .*there is no id/,
    },
    next: /leaves it as it is/,
    todo: /Correct the entry/,
  },
  {
    title: 'in the source without its id',
    sources: LDAP,
    act: (scene) => scene.runs([ana, ben], [{ ...ana, id: '' }, ben]),
    verdict: {
      code: 'unreadable',
      sentence:
        /^Ana Šimić \(user ana\) is not in the source, .*; the source has its e-mail at "employeeNumber=0,.*", with no id/,
    },
    next: /a run deletes no entry/,
    todo: /its id back/,
  },
  {
    title: 'deleted, because the source has another id',
    act: (scene) => scene.runs([ana, ben], [{ ...ana, id: 'ana2' }, ben]),
    verdict: {
      code: 'absent',
      sentence:
        /^Ana Šimić \(user ana\) is not in the source, and not in the directory; deleted .*; the source has its e-mail at "[^"]+", with the id ana2\.$/,
    },
    next: /^The next run does nothing\.$/,
    todo: /^Most likely that is the same user: dirsyncd explain \S+ ana2\.$/,
  },
  {
    title: 'blocked, because the OU is empty',
    sources: LDAP,
    act: (scene) => {
      const unit = ['ana', 'u1', 'u2', 'u3', 'u4'].map((id) => ({
        ...ana,
        id,
        mail: `${id}@example.org`,
        place: 'unit' as const,
      }))
      return scene.runs([...unit, ben], [ben])
    },
    verdict: {
      code: 'container-emptied',
      sentence: /is not in the source, and is in the directory; run \d+: .*5 users/,
    },
    next: /^The next run does not make its delete unless an operator approves it\.$/,
    todo: /^See dirsyncd runs (\d+), then dirsyncd approve \1 --id ana or dirsyncd reject \1 --id ana\.$/,
  },
  {
    title: 'in quarantine',
    act: async (scene) => {
      await scene.configure({ directory: { allowedDomains: ['example.org', 'elsewhere.example'] } })
      await scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben])
    },
    verdict: {
      code: 'quarantine',
      sentence: /; .*the service answered 422/,
    },
    next: /a day after the last try/,
    todo: /directory\.dropBadEmails: true.*dirsyncd quarantine release --sync \S+ --user ana/,
  },
  {
    title: 'rejected',
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } } })
      await scene.runs([ben])
      await stage.site.run('reject', await scene.lastRun())
    },
    verdict: {
      code: 'rejected',
      sentence: /is in the directory; rejected by \S+ at \S+ \S+Z in run \d+/,
    },
    next: /leaves it as it is/,
    todo: /^dirsyncd approve \d+ --id ana makes it after all\.$/,
  },
  {
    title: 'deleted with an approval',
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } } })
      await scene.runs([ben])
      await stage.site.run('approve', await scene.lastRun(), '--all')
    },
    who: 'ana@example.org',
    verdict: {
      code: 'absent',
      sentence: /; deleted .* by run \d+, approved by \S+: not in the source, or outside base and filter\.$/,
    },
    next: /^The next run does nothing\.$/,
    todo: /put it back/,
  },
  {
    title: 'blocked for the e-mail of another domain',
    act: (scene) => scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben]),
    verdict: { code: 'email-not-allowed', sentence: /ana@elsewhere\.example is outside the allowed domains/ },
    next: /leaves it as it is/,
    todo: /allowedDomains/,
  },
  {
    title: 'protected',
    act: async (scene) => {
      await scene.configure({ entries: { users: { protected: ['ana'] } } })
      await scene.runs([ana, ben], [ben])
    },
    verdict: {
      code: 'protected',
      sentence: /is not in the source, and is in the directory; .*protected/,
    },
    next: /leaves it as it is/,
    todo: /protected/,
  },
  {
    title: 'excluded',
    act: async (scene) => {
      await scene.configure({ entries: { users: { exclude: ['a*'] } } })
      await scene.runs([ana, ben])
    },
    verdict: {
      code: 'excluded',
      sentence: /; on the list entries\.users\.exclude \(.*\): neither written nor deleted\.$/,
    },
    next: /leaves it as it is/,
    todo: /entries\.users/,
  },
  {
    title: 'no e-mail',
    act: (scene) => scene.runs([{ id: 'ana', name: 'Ana Šimić' }, ben]),
    verdict: { code: 'no-email', sentence: /is in the directory without an e-mail/ },
    next: /changes nothing of it but its groups/,
    todo: /users\.map\.email/,
  },
]

const TABLE = SCENARIOS.flatMap((scenario) =>
  (scenario.sources ?? ALL_SOURCES).map((source) => ({
    ...scenario,
    source,
    name: `${scenario.title} (${source})`,
  })),
)

test.each(TABLE)(
  'explain says why the user is $name',
  async ({ source, who = 'ana', act, verdict, next, todo }) => {
    const scene = await stage.openScene(source)
    // The scenes share one server, and people of others would be found at another base.
    onTestFinished(() => scene.write([]))
    await act(scene)
    const story = await scene.explain(who)
    const judged = judgementOf(story)
    expect(judged.verdict).toEqual({ code: verdict.code, sentence: expect.stringMatching(verdict.sentence) })
    expect(judged.next).toMatch(next)
    expect(judged.todo ?? '').toMatch(todo ?? /^$/)
  },
)

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

  test('explain lists several matches with exit code 1, and says how to choose one', async () => {
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
    'explain finds a user by %j',
    async (who) => {
      expect(await scene.explain(who)).toMatchObject({
        result: 'one',
        kind: 'user',
        id: 'jan',
        verdict: { code: 'unchanged' },
      })
    },
  )

  test('explain finds a user by the place of the entry', async () => {
    const { source } = await scene.explain('ben')
    expect(await scene.explain(source.entries[0]!.from)).toMatchObject({ id: 'ben' })
  })

  test('explain tells a group from a user with the same id', async () => {
    expect(await scene.explain('sales team')).toMatchObject({
      kind: 'group',
      id: 'sales',
      verdict: {
        code: 'unchanged',
        sentence:
          kind === 'ldap'
            ? 'Sales team (group sales) is in the source, and is in the directory; the source lists 2 members, as many as the directory has; only a run compares the members.'
            : 'Sales team (group sales) is in the source, and is in the directory; both are equal, with the same members.',
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

  test('explain without a match says where it searched, with exit code 1', async () => {
    const { code, stdout } = await stage.site.run('explain', scene.sync, 'no.one@example.org')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^"no\.one@example\.org" is unknown: not in the source \(searched .*\), not in the directory/,
    )
    expect(stdout).toMatch(/Try the id, the e-mail, the full name or the DN\.\n$/)
  })

  test('explain changes nothing', async () => {
    const before = await stage.site.json('runs')
    const sent = await stage.countWrites()
    await scene.write([{ ...jan, name: 'Jan Other' }, ben], [])
    expect(await scene.explain('jan')).toMatchObject({ verdict: { code: 'changed' } })
    expect(await scene.explain('ana')).toMatchObject({ next: expect.stringContaining('deletes it') })
    expect([await stage.site.json('runs'), await stage.countWrites()]).toEqual([before, sent])
  })
})

describe('explain names an unreadable side, and shows the rest', () => {
  test('with a directory that is down', async () => {
    const scene = await stage.openScene('csv')
    await scene.runs([ana, ben])
    await scene.configure({ directory: { baseUrl: 'http://127.0.0.1:1' } })
    const story = await scene.explain('ana')
    expect(story).toMatchObject({
      verdict: {
        code: 'directory-unreadable',
        sentence: expect.stringMatching(
          /^Ana Šimić \(user ana\) is in the source, and what the directory has cannot be asked now: .*127\.0\.0\.1:1/,
        ),
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
            sentence: expect.stringMatching(
              /is unknown: not in the source .*, the directory cannot be asked now \(.*127\.0\.0\.1:1/,
            ),
          },
        },
      ],
    })
    await scene.configure({
      directory: { baseUrl: 'http://127.0.0.1:1' },
      entries: { users: { exclude: ['ana'] } },
    })
    expect(judgementOf(await scene.explain('ana')).verdict.code).toBe('excluded')
  })

  test.each<[SourceKind, object, RegExp]>([
    ['csv', { users: { path: './missing.csv', map: { external_id: 'id' } } }, /missing\.csv.*does not exist/],
    ['ldap', { url: 'ldap://127.0.0.1:1' }, /127\.0\.0\.1:1/],
  ])('with a source that is down (%s)', async (kind, source, why) => {
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

test('explain finds a user by an earlier e-mail', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ana, ben], [{ ...ana, mail: 'ana.horvat@example.org' }, ben])
  expect(await scene.explain('ANA@example.org')).toMatchObject({
    id: 'ana',
    email: 'ana.horvat@example.org',
    verdict: { code: 'unchanged' },
  })
})

test('explain counts a run of one entry as the last run of that entry only', async () => {
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

test('explain answers the same with a daemon as without one', async () => {
  const scene = await stage.openScene('csv')
  await scene.runs([ana, ben])
  const alone = await stage.site.json('explain', scene.sync, 'ana')
  await using daemon = stage.site.start('start')
  await daemon.waitForOutput(/daemon started/)
  expect(await stage.site.json('explain', scene.sync, 'ana')).toEqual(alone)
})
