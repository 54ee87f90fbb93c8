import { canonicalEmail, sortedUnique } from '../../directory/normalize.ts'
import { forEachInSteps, type Steps } from '../../directory/steps.ts'
import { type Change, fingerprint, membersDifference, type SetMembers } from '../change.ts'
import type { PlannedChange, PlannedChanges } from '../changes.ts'
import { isInPart, isMembershipInPart, type Part } from './part.ts'

/** Whether a change may be made, by its fingerprint: nobody has to decide about it any more. */
export type MayMake = (fingerprint: string) => boolean

/**
 * The changes of a plan that a part of it consists of, with what they depend on: whoever has an e-mail that somebody of
 * the part gets loses it, a group is created before its members, and whom the part creates becomes a member of his
 * groups. What depends on a change that may not be made is left out with it.
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

/** A part says that somebody is created again only if it creates the person. */
function withNewId({ chosen }: ChosenUsers): (change: Change) => Change {
  return (change) => {
    if (change.op !== 'delete-user' || change.newId === undefined || chosen.has(change.newId)) return change
    const { newId: _, ...rest } = change
    return rest
  }
}

interface ChosenUsers {
  /** Users whose change is chosen. */
  readonly chosen: ReadonlySet<string>
  /** Whom the whole plan creates and deletes. */
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
  const chosen = new Set<string>()
  yield* forEachInSteps(wanted, (id) => {
    const all = withNeeds(id, needs)
    if ([...all].every((needed) => possible.has(needed))) for (const needed of all) chosen.add(needed)
  })
  return { chosen, created, deleted }
}

/** Whose changes free the e-mail that a user gets, by the user's id. */
function* emailNeeds(changes: PlannedChanges): Steps<ReadonlyMap<string, readonly string[]>> {
  const freed = new Map<string, string[]>()
  yield* forEachInSteps(changes.of('delete-user'), ({ change }) => {
    if (change.op !== 'delete-user' || !change.have.email) return
    const email = canonicalEmail(change.have.email)
    freed.set(email, [...(freed.get(email) ?? []), change.id])
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

/** The user and all whom it needs, one after the other, also in a circle. */
function withNeeds(id: string, needs: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const all = new Set([id])
  for (const each of all) for (const needed of needs.get(each) ?? []) all.add(needed)
  return all
}

interface ChosenGroups {
  /** Groups whose own change is chosen. */
  readonly chosen: ReadonlySet<string>
  /** Whether the group is there, or the part creates it. */
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

/** The change of members as far as it belongs to the part; `undefined` where nothing is left of it. */
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
