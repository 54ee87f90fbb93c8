import fc from 'fast-check'
import { expect, test } from 'vitest'
import type {
  DirectoryGroup,
  DirectoryUser,
  GroupEntry,
  UserEntry,
} from '../../../../src/core/entries/entry.ts'
import { canonicalEmail, canonicalName, sortedUnique } from '../../../../src/core/entries/normalize.ts'
import { directoryOf, type Plan, plainOf, planOf, sourceOf } from './build.ts'
import { testAnyEmails } from './emails.ts'

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__', 'A', 'é', 'x/y', '10', '9')
const name = fc.constantFrom('Ana', 'Bo', 'ana', 'Zoe\u0308', 'Zo\u00eb', ' Ana')
const email = fc.constantFrom('a@x.org', 'A@X.org', 'b@x.org', 'c@x.org')
const ids = fc.uniqueArray(id, { maxLength: 6 }).map((list) => sortedUnique(list))

const wantedUser: fc.Arbitrary<UserEntry> = fc.record({
  id,
  name: fc.option(name, { nil: undefined }),
  email: fc.option(email, { nil: undefined }),
  employeeId: fc.constant(undefined),
  from: fc.constant('somewhere'),
})
const directoryUser: fc.Arbitrary<DirectoryUser> = fc.record({
  id,
  name: fc.option(name),
  email: fc.option(email),
})
const wantedGroup: fc.Arbitrary<GroupEntry> = fc.record({
  id,
  name,
  members: ids,
  from: fc.constant('somewhere'),
})
const directoryGroup: fc.Arbitrary<DirectoryGroup> = fc.record({ id, name, members: ids })

function byId<T extends { id: string }>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.uniqueArray(item, { selector: (each) => each.id, maxLength: 8 })
}

const world = fc
  .record({
    users: byId(wantedUser),
    groups: byId(wantedGroup),
    haveUsers: byId(directoryUser),
    haveGroups: byId(directoryGroup),
  })
  .map(({ users, groups, ...have }) => {
    const read = new Set(users.map((user) => user.id))
    const own = groups.map((group) => ({ ...group, members: group.members.filter((each) => read.has(each)) }))
    return { users, groups: own, ...have }
  })

/** A directory that does what the API does, in the plan's order. */
function apply(plan: Plan, users: readonly DirectoryUser[], groups: readonly DirectoryGroup[]) {
  const haveUsers = new Map(users.map((user) => [user.id, user]))
  const haveGroups = new Map(groups.map((group) => [group.id, group]))
  for (const { change } of plan.changes) {
    switch (change.op) {
      case 'create-user':
        expect(haveUsers.has(change.id)).toBe(false)
        haveUsers.set(change.id, {
          id: change.id,
          name: change.want.name ?? null,
          email: change.want.email ?? null,
        })
        break
      case 'update-user': {
        const before = haveUsers.get(change.id)
        expect(before).toBeDefined()
        if (before) haveUsers.set(change.id, { ...before, ...change.want })
        break
      }
      case 'delete-user':
        expect(haveUsers.delete(change.id)).toBe(true)
        for (const group of haveGroups.values()) {
          haveGroups.set(group.id, {
            ...group,
            members: group.members.filter((member) => member !== change.id),
          })
        }
        break
      case 'create-group':
        expect(haveGroups.has(change.id)).toBe(false)
        haveGroups.set(change.id, { id: change.id, name: change.want.name, members: [] })
        break
      case 'update-group':
      case 'set-members': {
        const before = haveGroups.get(change.id)
        expect(before).toBeDefined()
        if (before && change.op === 'update-group')
          haveGroups.set(change.id, { ...before, name: change.want.name })
        if (before && change.op === 'set-members')
          haveGroups.set(change.id, { ...before, members: change.want })
        break
      }
      case 'delete-group':
        expect(haveGroups.delete(change.id)).toBe(true)
        break
    }
  }
  return { users: [...haveUsers.values()], groups: [...haveGroups.values()] }
}

test('applying a plan makes the directory equal to the source, and a second plan is empty', () => {
  fc.assert(
    fc.property(world, ({ users, groups, haveUsers, haveGroups }) => {
      const source = sourceOf(users, groups)
      const rules = { policy: 'mirror', membership: 'write', allowedDomains: [], emails: 'shared' } as const
      const after = apply(
        planOf(source, directoryOf(haveUsers, haveGroups), { rules }),
        haveUsers,
        haveGroups,
      )
      expect(sortedUnique(after.users.map((user) => user.id))).toEqual(
        sortedUnique(users.map((user) => user.id)),
      )
      for (const user of after.users) {
        const want = source.users.get(user.id)
        if (want?.email !== undefined)
          expect(canonicalEmail(user.email ?? '')).toBe(canonicalEmail(want.email))
        if (want?.name !== undefined) expect(canonicalName(user.name ?? '')).toBe(canonicalName(want.name))
      }
      for (const group of after.groups) {
        const members = source.groups.get(group.id)?.members.filter((member) => source.users.has(member))
        expect(group.members).toEqual(members)
      }
      expect([...planOf(source, directoryOf(after.users, after.groups), { rules }).changes]).toEqual([])
    }),
  )
})

test('the order in which entries were read changes neither the plan nor its digest', () => {
  fc.assert(
    fc.property(world, ({ users, groups, haveUsers, haveGroups }) => {
      const one = planOf(sourceOf(users, groups), directoryOf(haveUsers, haveGroups))
      const other = planOf(
        sourceOf(users.toReversed(), groups.toReversed()),
        directoryOf(haveUsers.toReversed(), haveGroups.toReversed()),
      )
      expect(plainOf(other)).toEqual(plainOf(one))
    }),
  )
})

test('nothing that the source shows in any form is deleted', () => {
  fc.assert(
    fc.property(world, ids, ({ users, groups, haveUsers, haveGroups }, skipped) => {
      const source = sourceOf(users, groups)
      const seen = { user: new Set([...source.seen.user, ...skipped]), group: source.seen.group }
      const plan = planOf({ ...source, seen }, directoryOf(haveUsers, haveGroups))
      for (const { change } of plan.changes) {
        if (change.op === 'delete-user') expect(seen.user.has(change.id)).toBe(false)
        if (change.op === 'delete-group') expect(seen.group.has(change.id)).toBe(false)
      }
    }),
  )
})

testAnyEmails(80)
