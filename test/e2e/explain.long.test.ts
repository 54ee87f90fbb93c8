import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
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
const sales = { id: 'sales', name: 'Sales', members: ['ana', 'ben'] }
const ben: Somebody = { id: 'ben', name: 'Ben Stay', mail: 'ben@example.org' }

interface Scenario {
  readonly title: string
  readonly sources: readonly SourceKind[]
  /** Default: `ana`. */
  readonly who?: string
  readonly act: (scene: Scene) => Promise<void>
  readonly verdict: { readonly code: string; readonly sentence: RegExp }
  readonly next: RegExp
  readonly todo?: RegExp
}

/** Verdicts that depend on the source or the store; those of plain data are cases of `test/unit/control/explain.test.ts`. */
const SCENARIOS: readonly Scenario[] = [
  {
    title: 'never in the filter',
    sources: LDAP,
    act: (scene) => scene.runs([{ ...ana, place: 'left' }, ben]),
    verdict: {
      code: 'left-filter',
      sentence: /^Ana Šimić \(user ana\) is outside the sync's filter .*employeeType=left/,
    },
    next: /does nothing/,
    todo: /meets the filter/,
  },
  {
    title: 'left the filter, and is in the directory',
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
    verdict: { code: 'disabled', sentence: /account of Ana Šimić \(user ana\) is disabled/ },
    next: /does nothing/,
    todo: /Enable the account/,
  },
  {
    title: 'at another base',
    sources: LDAP,
    act: (scene) => scene.runs([{ ...ana, place: 'elsewhere' }, ben]),
    verdict: {
      code: 'other-base',
      sentence: /is at "employeeNumber=0,ou=out,.*and the sync looks only below/,
    },
    next: /does nothing/,
    todo: /change the base/,
  },
  {
    title: 'an e-mail of another domain that is dropped',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.configure({ directory: { allowedDomains: ['example.org'], dropBadEmails: true } })
      await scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben])
    },
    verdict: {
      code: 'no-email',
      sentence:
        /is in the directory without an e-mail, because the e-mail ana@elsewhere\.example is outside the allowed domains/,
    },
    next: /changes nothing of it but its groups/,
    todo: /Give it an e-mail/,
  },
  {
    title: 'the e-mail of somebody else',
    sources: ALL_SOURCES,
    act: (scene) =>
      scene.runs([{ ...ana, mail: 'Ben@example.org' }, ben], [{ ...ana, mail: 'Ben@example.org' }, ben]),
    who: 'ben',
    verdict: { code: 'email-taken', sentence: /"ana" has the e-mail .* in the directory and keeps it/ },
    next: /changes nothing of it but its groups/,
    todo: /another e-mail/,
  },
  {
    title: 'two entries with one id',
    sources: ALL_SOURCES,
    act: (scene) => scene.runs([ana, ben, { ...ana, name: 'Ana Other', mail: 'other@example.org' }]),
    who: 'Ana Other',
    verdict: {
      code: 'duplicate-id',
      sentence: /^2 entries of the source have the id of .*none of them is used/,
    },
    next: /leaves it as it is/,
    todo: /an id of its own/,
  },
  {
    title: 'an entry without an id',
    sources: ['ldap', 'csv'],
    act: (scene) => scene.runs([{ ...ana, id: '' }, ben]),
    who: 'Ana Šimić',
    verdict: {
      code: 'unusable',
      sentence: /^Ana Šimić \(user without an id\) cannot be used as the source has it: .*there is no id/,
    },
    next: /leaves it as it is/,
    todo: /Correct the entry/,
  },
  {
    title: 'nowhere, beside an entry that cannot be read',
    sources: ['csv', 'command'],
    act: (scene) => scene.runs([ana, ben], [ben], [{ ...ana, id: '' }, ben]),
    verdict: {
      code: 'deleted',
      sentence: /was deleted .*; but it may be in an entry that cannot be read \(.*there is no id/,
    },
    next: /neither side has it/,
    todo: /put it back/,
  },
  {
    title: 'the id was taken away',
    sources: LDAP,
    act: (scene) => scene.runs([ana, ben], [{ ...ana, id: '' }, ben]),
    verdict: {
      code: 'unusable',
      sentence:
        /^Ana Šimić \(user ana\) is not in the source any more, .*; the source has its e-mail at "employeeNumber=0,.*", with no id/,
    },
    next: /a run deletes nobody/,
    todo: /its id back/,
  },
  {
    title: 'the id was taken away of an entry that the sync does not read any more',
    sources: LDAP,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.write([{ ...ana, id: '', place: 'elsewhere' }, ben])
    },
    verdict: { code: 'changed', sentence: /is not in the source any more, and is in the directory\.$/ },
    next: /deletes it/,
    todo: /put it back/,
  },
  {
    title: 'the id was changed, and the account under the old one deleted',
    sources: ALL_SOURCES,
    act: (scene) => scene.runs([ana, ben], [{ ...ana, id: 'ana2' }, ben]),
    verdict: {
      code: 'deleted',
      sentence:
        /^Ana Šimić \(user ana\) was deleted .*; the source has its e-mail at "[^"]+", with the id ana2\.$/,
    },
    next: /neither side has it/,
    todo: /^Most likely that is the same person: dirsyncd explain \S+ ana2 tells of that one\.$/,
  },
  {
    title: 'absent and in grace',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, deleteAfter: '1d' } } })
      await scene.runs([ben])
    },
    verdict: {
      code: 'in-grace',
      sentence: /is not in the source any more, and waits for its delete: absent since/,
    },
    next: /leaves it in the directory/,
    todo: /put it back/,
  },
  {
    title: 'withheld by the evidence: nobody is left in the unit',
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
      code: 'unproved',
      sentence:
        /^Run \d+ did not delete Ana Šimić \(user ana\), who is not in the source any more, because .*container-emptied/,
    },
    next: /unless somebody approves it or a better read proves it/,
    todo: /dirsyncd approve \d+ --only container-emptied/,
  },
  {
    title: 'withheld by the evidence: nobody is left in the group',
    sources: ['csv', 'command'],
    act: async (scene) => {
      const team = ['ana', 'u1', 'u2', 'u3', 'u4'].map((id) => ({ ...ana, id, mail: `${id}@example.org` }))
      await scene.write(team, [{ ...sales, members: team.map(({ id }) => id) }])
      await scene.run()
      await scene.write(team, [{ ...sales, members: [] }])
      await scene.run()
    },
    who: 'Sales',
    verdict: {
      code: 'unproved',
      sentence:
        /^Run \d+ did not change the members of Sales \(group sales\), because its read does not prove that: group-emptied/,
    },
    next: /does not change its members, unless somebody approves it or a better read proves it/,
    todo: /dirsyncd approve \d+ --only group-emptied/,
  },
  {
    title: 'in quarantine',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.configure({ directory: { allowedDomains: ['example.org', 'elsewhere.example'] } })
      await scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben])
    },
    verdict: {
      code: 'quarantined',
      sentence: /^The service did not create Ana Šimić \(user ana\), so the change is in quarantine: .*422/,
    },
    next: /a day after the last try/,
    todo: /directory\.dropBadEmails: true.*dirsyncd quarantine release --sync \S+ --user ana/,
  },
  {
    title: 'held by a guard',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } } })
      await scene.runs([ben])
    },
    verdict: {
      code: 'held',
      sentence:
        /^Run \d+ waits for a person before it may delete Ana Šimić \(user ana\), who is not in the source any more: max-deletes-users/,
    },
    next: /does not delete it, unless somebody approves it/,
    todo: /dirsyncd approve \d+ or dirsyncd reject \d+/,
  },
  {
    title: 'as in the source, but for a group that waits',
    sources: ['csv', 'ldap', 'command'],
    act: (scene) => leavesSales(scene),
    verdict: {
      code: 'held',
      sentence:
        /^Run \d+ waits for a person, and with it that Ana Šimić \(user ana\) comes into the group club and leaves the group sales\.$/,
    },
    next: /^The next run plans again, and changes the groups unless/,
    todo: /dirsyncd approve \d+ --id ana or dirsyncd reject \d+/,
  },
  {
    title: 'as in the source, but for a group that a person rejected',
    sources: ['command', 'csv', 'ldap'],
    act: async (scene) => {
      await leavesSales(scene)
      await stage.site.run('reject', await scene.lastRun())
      await scene.run()
    },
    verdict: {
      code: 'rejected',
      sentence:
        /^A person rejected in the hold of run \d+ that Ana Šimić \(user ana\) leaves the group sales\.$/,
    },
    next: /leaves these groups as they are/,
    todo: /dirsyncd approve \d+ --id sales releases what was to be changed in this group/,
  },
  {
    title: 'rejected',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } } })
      await scene.runs([ben])
      await stage.site.run('reject', await scene.lastRun())
    },
    verdict: {
      code: 'rejected',
      sentence: /because its delete was rejected by \S+ at \S+ \S+Z in the hold of run \d+/,
    },
    next: /leaves it as it is/,
    todo: /dirsyncd approve \d+ --id ana releases the change/,
  },
  {
    title: 'deleted, after a person approved it',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.runs([ana, ben])
      await scene.configure({ guards: { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } } })
      await scene.runs([ben])
      await stage.site.run('approve', await scene.lastRun())
    },
    who: 'ana@example.org',
    verdict: {
      code: 'deleted',
      sentence:
        /^Ana Šimić \(user ana\) was deleted .* by run \d+, approved by \S+, because the source did not have it any more/,
    },
    next: /neither side has it/,
    todo: /put it back/,
  },
  {
    title: 'deleted, and put back by an undo',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.runs([ana, ben], [ben])
      await stage.site.run('undo', await scene.lastRun(), '--yes')
    },
    verdict: {
      code: 'undone',
      sentence:
        /^Run \d+ put Ana Šimić \(user ana\) back .*, when it undid run \d+; the source still wants what run \d+ did/,
    },
    next: /Nothing is written while \S+ is paused; after dirsyncd resume \S+ the next run deletes it/,
    todo: /dirsyncd plan \S+ shows whether the next run would do it again/,
  },
  {
    title: 'an e-mail of another domain',
    sources: ALL_SOURCES,
    act: (scene) => scene.runs([{ ...ana, mail: 'ana@elsewhere.example' }, ben]),
    verdict: { code: 'email-not-allowed', sentence: /ana@elsewhere\.example is outside the allowed domains/ },
    next: /leaves it as it is/,
    todo: /allowedDomains/,
  },
  {
    title: 'protected',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.configure({ entries: { users: { protected: ['ana'] } } })
      await scene.runs([ana, ben], [ben])
    },
    verdict: {
      code: 'protected',
      sentence:
        /not in the source any more, and stays in the directory, because the list entries.users.protected has it/,
    },
    next: /leaves it in the directory/,
    todo: /change entries\.users/,
  },
  {
    title: 'excluded',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.configure({ entries: { users: { exclude: ['a*'] } } })
      await scene.runs([ana, ben])
    },
    verdict: {
      code: 'excluded',
      sentence: /^Ana Šimić \(user ana\) is left out, because it is on the list exclude/,
    },
    next: /leaves it as it is/,
    todo: /entries\.users/,
  },
  {
    title: 'a group with another name',
    sources: ALL_SOURCES,
    act: async (scene) => {
      await scene.write([ana, ben], [sales])
      await scene.run()
      await scene.write([ana, ben], [{ ...sales, name: 'Sellers' }])
    },
    who: 'sellers',
    verdict: {
      code: 'changed',
      sentence: /^Sellers \(group sales\) .* the name is "Sales" there and "Sellers" in the source/,
    },
    next: /updates it/,
    todo: /dirsyncd sync \S+ --group sales/,
  },
  {
    title: 'no e-mail',
    sources: ALL_SOURCES,
    act: (scene) => scene.runs([{ id: 'ana', name: 'Ana Šimić' }, ben]),
    verdict: { code: 'no-email', sentence: /is in the directory without an e-mail/ },
    next: /changes nothing of it but its groups/,
    todo: /users\.map\.email/,
  },
]

/** A guard holds that Ana goes from one group to another. */
async function leavesSales(scene: Scene): Promise<void> {
  const club = { id: 'club', name: 'Club', members: ['ben'] }
  await scene.write([ana, ben], [{ ...sales, members: ['ana', 'ben'] }, club])
  await scene.run()
  await scene.configure({
    guards: { ...NO_GUARDS, memberships: { ...NO_GUARDS.memberships, maxDeletes: 0 } },
  })
  await scene.write(
    [ana, ben],
    [
      { ...sales, members: ['ben'] },
      { ...club, members: ['ana', 'ben'] },
    ],
  )
  await scene.run()
}

const TABLE = SCENARIOS.flatMap((scenario) =>
  scenario.sources.map((source) => ({ ...scenario, source, name: `${scenario.title} (${source})` })),
)

test.each(TABLE)('$name', async ({ source, who = 'ana', act, verdict, next, todo }) => {
  const scene = await stage.openScene(source)
  // The scenes share one server, and people of others would be found at another base.
  onTestFinished(() => scene.write([]))
  await act(scene)
  const story = await scene.explain(who)
  expect(story.verdict).toEqual({ code: verdict.code, sentence: expect.stringMatching(verdict.sentence) })
  expect(story.next).toMatch(next)
  expect(story.todo ?? '').toMatch(todo ?? /^$/)
})
