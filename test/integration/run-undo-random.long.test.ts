import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { noticesOf } from '../../src/store/plans.ts'
import { become, GROUPS, PEOPLE, someCompany } from '../support/random-company.ts'
import type { DirectoryContent } from '../support/read-service.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('undo-random')
const { company, seen, call } = bed

let harness: SyncHarness

beforeEach(async () => {
  harness = await bed.openWithWorker()
})

/** Nobody decides about an emptied group here, and a delete that would end its memberships waits for that. */
async function forgetQuestions(): Promise<void> {
  await sql`DELETE FROM dirsyncd.ledgers WHERE sync = ${bed.sync} AND origin = 'sync'`.execute(bed.db)
}

/** What somebody else does in the directory. */
const interference = fc.oneof(
  fc.record({ does: fc.constant('rename' as const), user: fc.constantFrom(...PEOPLE) }),
  fc.record({ does: fc.constant('delete' as const), user: fc.constantFrom(...PEOPLE) }),
  fc.record({ does: fc.constant('create' as const), user: fc.constantFrom(...PEOPLE, 'stranger') }),
  fc.record({
    does: fc.constant('members' as const),
    user: fc.constantFrom(...PEOPLE),
    group: fc.constantFrom(...GROUPS),
  }),
  fc.record({ does: fc.constant('delete-group' as const), group: fc.constantFrom(...GROUPS) }),
  fc.record({ does: fc.constant('other-user' as const), user: fc.constantFrom(...PEOPLE) }),
  fc.record({ does: fc.constant('other-group' as const), group: fc.constantFrom(...GROUPS) }),
)
type Interference = typeof interference extends fc.Arbitrary<infer T> ? T : never

const STRANGER = 'Made by somebody'
const ADMINS = 'Admins'

async function createOther(user: string): Promise<void> {
  await call('POST', '/users', {
    'users[][external_id]': user,
    'users[][name]': STRANGER,
    'users[][email]': `${user}-2@example.org`,
  })
}

async function interfere(step: Interference): Promise<void> {
  switch (step.does) {
    case 'rename':
      await call('PATCH', `/users/${step.user}`, { name: 'Renamed by somebody' })
      return
    case 'delete':
      await call('DELETE', `/users/${step.user}`)
      return
    case 'create':
      await createOther(step.user)
      return
    case 'other-user':
      await call('DELETE', `/users/${step.user}`)
      await createOther(step.user)
      return
    case 'other-group':
      await call('DELETE', `/groups/${step.group}`)
      await call('POST', '/groups', { 'groups[][external_id]': step.group, 'groups[][name]': ADMINS })
      return
    case 'delete-group':
      await call('DELETE', `/groups/${step.group}`)
      return
    case 'members': {
      const { users, groups } = await seen()
      const group = groups.get(step.group)
      if (group === undefined || !users.has(step.user)) return
      const others = group.members.filter((member) => member !== step.user)
      const members = others.length < group.members.length ? others : [...others, step.user]
      const form = new URLSearchParams({ name: group.name })
      for (const id of members.length === 0 ? [''] : members) form.append('external_member_ids[]', id)
      await call('PATCH', `/groups/${step.group}`, form)
    }
  }
}

/** Undoes a run, approves what is held, and returns the ids that it says it left alone. */
async function undo(run: number): Promise<ReadonlySet<string>> {
  const undone = await harness.undo(run)
  expect(undone).toMatchObject({ state: 'done', undo: { run } })
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  // The run after the approval is limited to what the first one showed.
  const { rows } = await sql<{ run: number }>`SELECT run FROM dirsyncd.runs
    WHERE sync = ${bed.sync} AND (undo ->> 'run')::integer = ${run}`.execute(bed.db)
  const notices = (await Promise.all(rows.map((each) => noticesOf(bed.db, each.run, 1000)))).flat()
  return new Set(notices.filter(({ code }) => code !== 'email-swap').map(({ kind, id }) => `${kind} ${id}`))
}

interface States {
  /** Before the run, after it, after what somebody else did, and after the undo. */
  readonly before: DirectoryContent
  readonly written: DirectoryContent
  readonly changed: DirectoryContent
  readonly after: DirectoryContent
}

const asText = (value: unknown) => JSON.stringify(value ?? null)
const userIn = ({ users }: DirectoryContent, id: string) => users.get(id)
const isMember = ({ groups }: DirectoryContent, group: string, user: string) =>
  groups.get(group)?.members.includes(user) ?? false

/** Whether somebody else has put the user into a group. */
function hasOtherGroups({ written, changed }: States, user: string): boolean {
  return GROUPS.some((group) => isMember(changed, group, user) && !isMember(written, group, user))
}

function expectUserPutBack(states: States, left: ReadonlySet<string>, id: string): void {
  const { before, written, changed, after } = states
  const isTouched = asText(userIn(written, id)) !== asText(userIn(changed, id))
  const isCreated = userIn(before, id) === undefined && userIn(written, id) !== undefined
  if (isTouched || (isCreated && hasOtherGroups(states, id))) {
    // A name that somebody changed is left, but an e-mail that only the run changed is put back.
    const email = userIn(after, id)?.email
    expect([userIn(changed, id)?.email, userIn(before, id)?.email]).toContain(email)
    expect(userIn(after, id)?.name).toBe(userIn(changed, id)?.name)
    return
  }
  if (left.has(`user ${id}`)) {
    // Somebody whom the undo leaves alone has the e-mail.
    const email = userIn(before, id)?.email
    const holders = [...after.users].filter(([other, user]) => other !== id && user.email === email)
    expect(holders).toHaveLength(1)
    expect(userIn(after, id)?.name).toBe(userIn(before, id)?.name)
    return
  }
  expect(userIn(after, id)).toEqual(userIn(before, id))
}

function expectMembershipPutBack(
  { before, written, changed, after }: States,
  left: ReadonlySet<string>,
  group: string,
  user: string,
): void {
  if (!after.groups.has(group) || !after.users.has(user)) return
  const isTouched = isMember(written, group, user) !== isMember(changed, group, user)
  const isLeft = left.has(`user ${user}`) || left.has(`group ${group}`)
  const now = isMember(after, group, user)
  if (isTouched || !changed.groups.has(group)) return
  if (isLeft) expect([isMember(before, group, user), isMember(changed, group, user)]).toContain(now)
  else expect(now).toBe(isMember(before, group, user))
}

/** Somebody else's entry under an id that the run created or deleted, or a group of somebody else. */
function expectOthersAlone({ before, written, changed, after }: States): void {
  const isOfRun = (entries: 'users' | 'groups', id: string) =>
    before[entries].has(id) !== written[entries].has(id)
  for (const [id, { name }] of changed.users) {
    if (name !== STRANGER || !isOfRun('users', id)) continue
    expect(userIn(after, id)).toEqual(userIn(changed, id))
    for (const group of GROUPS) expect(isMember(after, group, id)).toBe(isMember(changed, group, id))
  }
  for (const [id, { name, members }] of changed.groups) {
    if (name !== ADMINS || !isOfRun('groups', id)) continue
    expect(after.groups.get(id)?.name).toBe(ADMINS)
    expect(after.groups.get(id)?.members).toEqual(members.filter((member) => after.users.has(member)))
  }
}

test('an undo puts back what nobody else has touched since, and touches nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      someCompany,
      someCompany,
      fc.array(interference, { maxLength: 3 }),
      async (first, second, steps) => {
        become(company, first)
        await forgetQuestions()
        await harness.sync()
        await forgetQuestions()
        become(company, second)
        const before = await seen()
        const run = await harness.sync()
        expect(run.state).toBe('done')
        const { applied = 0 } = run.counts?.outcomes ?? {}
        if (applied === 0) return
        const written = await seen()
        for (const step of steps) await interfere(step)
        const changed = await seen()
        const left = await undo(run.run)
        const states = { before, written, changed, after: await seen() }
        expectOthersAlone(states)
        for (const id of [...PEOPLE, 'stranger']) expectUserPutBack(states, left, id)
        for (const group of GROUPS)
          for (const user of PEOPLE) expectMembershipPutBack(states, left, group, user)
        if (steps.length === 0) expect(states.after).toEqual(before)
      },
    ),
    { numRuns: 400 },
  )
})

test('two runs are undone, the newest first, and then an undo of the undo does them again', async () => {
  await fc.assert(
    fc.asyncProperty(someCompany, someCompany, someCompany, async (first, second, third) => {
      become(company, first)
      await forgetQuestions()
      await harness.sync()
      const states: DirectoryContent[] = [await seen()]
      const runs: number[] = []
      for (const next of [second, third]) {
        become(company, next)
        await forgetQuestions()
        const { run, counts } = await harness.sync()
        if ((counts?.outcomes?.applied ?? 0) === 0) continue
        runs.push(run)
        states.push(await seen())
      }
      let last: number | undefined
      for (const run of runs.toReversed()) {
        states.pop()
        const undone = await harness.undo(run)
        await harness.control.resume({ sync: bed.sync, by: 'ana' })
        expect(await seen()).toEqual(states.at(-1))
        last = undone.run
      }
      if (last === undefined) return
      const again = await harness.undo(last)
      expect(again).toMatchObject({ state: 'done' })
      await harness.undo(again.run)
      await harness.control.resume({ sync: bed.sync, by: 'ana' })
      expect(await seen()).toEqual(states[0])
    }),
    { numRuns: 100 },
  )
})
