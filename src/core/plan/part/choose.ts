import { canonicalEmail, sortedUnique } from '../../entries/normalize.ts'
import { listAt } from '../../../base/lists.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../../../base/steps.ts'
import { type Change, fingerprint, membersDifference, type SetMembers } from '../change.ts'
import type { PlannedChange, PlannedChanges } from '../changes.ts'
import { isInPart, isMembershipInPart, type Part } from './part.ts'

/** By fingerprint: whether the change needs no decision any more. */
export type MayMake = (fingerprint: string) => boolean

/**
 * Selects the changes of a part with their dependencies: the present user of an e-mail that the part needs loses it, a
 * group is created before its members, and a created user joins its groups. Changes that depend on a change that may
 * not be made are left out with it.
 */
export function* chooseChanges(changes: PlannedChanges, part: Part, mayMake: MayMake): Steps<PlannedChanges> {
  const users = yield* chooseUsers(changes, part, mayMake)
  const groups = yield* chooseGroups(changes, part, mayMake)
  return yield* changes.select((planned) => {
    const { change } = planned
    if (change.op === 'set-members')
      return groups.mayHaveMembers(change.id)
        ? chooseMembers(planned, change, { part, mayMake, users })
        : undefined
    const isChosen = change.op.endsWith('-user') ? users.chosen.has(change.id) : groups.chosen.has(change.id)
    return isChosen ? planned : undefined
  }, withNewId(users))
}

/** A part names the new id of a deleted user only if it creates that user. */
function withNewId({ chosen }: ChosenUsers): (change: Change) => Change {
  return (change) => {
    if (change.op !== 'delete-user' || change.newId === undefined || chosen.has(change.newId)) return change
    const { newId: _, ...rest } = change
    return rest
  }
}

interface ChosenUsers {
  readonly chosen: ReadonlySet<string>
  readonly created: ReadonlySet<string>
  readonly deleted: ReadonlySet<string>
}

function* chooseUsers(changes: PlannedChanges, part: Part, mayMake: MayMake): Steps<ChosenUsers> {
  const [created, deleted] = [changes.idsOf('create-user'), changes.idsOf('delete-user')]
  const needs = yield* emailNeeds(changes)
  const possible = new Set<string>()
  const wanted: string[] = []
  yield* forEachInSteps(
    changes.of('create-user', 'update-user', 'delete-user'),
    ({ change, fingerprint: print }) => {
      if (mayMake(print)) possible.add(change.id)
      if (isInPart(part, change)) wanted.push(change.id)
    },
  )
  const impossible = yield* withImpossibleNeeds(needs, possible)
  const chosen = new Set(yield* filterInSteps(wanted, (id) => possible.has(id) && !impossible.has(id)))
  // The set grows during the loop.
  yield* forEachInSteps(chosen, (id) => {
    for (const needed of needs.get(id) ?? []) chosen.add(needed)
  })
  return { chosen, created, deleted }
}

/** By the user's id, the users whose changes free the e-mail that the user gets. */
function* emailNeeds(changes: PlannedChanges): Steps<ReadonlyMap<string, readonly string[]>> {
  const freed = new Map<string, string[]>()
  yield* forEachInSteps(changes.of('delete-user'), ({ change }) => {
    if (change.op !== 'delete-user' || !change.have.email) return
    const email = canonicalEmail(change.have.email)
    listAt(freed, email).push(change.id)
  })
  const needs = new Map<string, readonly string[]>()
  yield* forEachInSteps(changes.of('create-user', 'update-user'), ({ change }) => {
    if (change.op !== 'create-user' && change.op !== 'update-user') return
    const { email } = change.want
    const deleted = email === undefined ? [] : (freed.get(canonicalEmail(email)) ?? [])
    const all = [...deleted, ...(change.takes === undefined ? [] : [change.takes.from])]
    if (all.length > 0) needs.set(change.id, all)
  })
  return needs
}

/** The users that need an impossible change, directly or along a chain or circle. */
function* withImpossibleNeeds(
  needs: ReadonlyMap<string, readonly string[]>,
  possible: ReadonlySet<string>,
): Steps<ReadonlySet<string>> {
  const neededBy = new Map<string, string[]>()
  const impossible = new Set<string>()
  yield* forEachInSteps(needs, ([id, all]) => {
    for (const needed of all) {
      listAt(neededBy, needed).push(id)
      if (!possible.has(needed)) impossible.add(needed)
    }
    if (!possible.has(id)) impossible.add(id)
  })
  // The set grows during the loop.
  yield* forEachInSteps(impossible, (id) => {
    for (const user of neededBy.get(id) ?? []) impossible.add(user)
  })
  return impossible
}

interface ChosenGroups {
  readonly chosen: ReadonlySet<string>
  readonly mayHaveMembers: (id: string) => boolean
}

function* chooseGroups(changes: PlannedChanges, part: Part, mayMake: MayMake): Steps<ChosenGroups> {
  const created = changes.idsOf('create-group')
  const needed = new Set<string>()
  yield* forEachInSteps(changes.of('set-members'), ({ change, fingerprint: print }) => {
    if (created.has(change.id) && isInPart(part, change) && mayMake(print)) needed.add(change.id)
  })
  const chosen = new Set<string>()
  yield* forEachInSteps(
    changes.of('create-group', 'update-group', 'delete-group'),
    ({ change, fingerprint: print }) => {
      const isNeeded = change.op === 'create-group' && needed.has(change.id)
      if (mayMake(print) && (isNeeded || isInPart(part, change))) chosen.add(change.id)
    },
  )
  return { chosen, mayHaveMembers: (id) => !created.has(id) || chosen.has(id) }
}

interface MemberChoice {
  readonly part: Part
  readonly mayMake: MayMake
  readonly users: ChosenUsers
}

/** The member changes within the part; `undefined` where there are none. */
function chooseMembers(
  planned: PlannedChange,
  change: SetMembers,
  choice: MemberChoice,
): PlannedChange | undefined {
  const { part, mayMake, users } = choice
  const { id: group, have } = change
  const isWhole = isInPart(part, change) && mayMake(planned.fingerprint)
  const { added, removed } = membersDifference(change)
  const comes = (user: string): boolean => {
    if (users.created.has(user)) return users.chosen.has(user)
    return isWhole || isMembershipInPart(part, group, user)
  }
  const leaves = (user: string): boolean => {
    if (users.deleted.has(user)) return users.chosen.has(user)
    return isWhole || isMembershipInPart(part, group, user)
  }
  const [coming, leaving] = [added.filter(comes), new Set(removed.filter(leaves))]
  const isChanged = coming.length > 0 || [...leaving].some((user) => !users.deleted.has(user))
  if (!isChanged) return undefined
  if (coming.length === added.length && leaving.size === removed.length) return planned
  const want = sortedUnique([...have.filter((user) => !leaving.has(user)), ...coming])
  const less = { ...change, want }
  const removes = [...leaving].filter((user) => !users.deleted.has(user)).length
  return { ...planned, change: less, fingerprint: fingerprint(less), removes }
}
