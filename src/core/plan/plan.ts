import type { Kind, UserEntry } from '../entries/entry.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../entries/snapshot.ts'
import { atOnce, filterInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'
import { differingIds, differingUsers, isAlike } from '../entries/users.ts'
import type { Plan } from './changes.ts'
import { Draft } from './draft.ts'
import type { EmailRulings } from './emails.ts'
import type { PlanInputs } from './inputs.ts'
import { planMembers } from './members.ts'
import { ruleUserEmails } from './rulings.ts'
import { compileSelections, type Selection } from './selection.ts'

/**
 * The ids of the directory that the first read of the source lacks. An id that the directory has twice is left out,
 * because the API cannot tell the two entries apart. If the source does not read groups, no group is one.
 */
export function* deleteCandidates(
  source: SourceSnapshot,
  directory: DirectorySnapshot,
): Steps<Record<Kind, readonly string[]>> {
  const twice: Record<Kind, Set<string | undefined>> = { user: new Set(), group: new Set() }
  for (const { code, kind, id } of directory.notices) if (code === 'shared-id') twice[kind].add(id)
  const users: string[] = []
  const sides = { source: source.users, directory: directory.users }
  yield* forEachInSteps(differingIds(sides, 'directory'), (id) => {
    if (!source.seen.user.has(id) && !twice.user.has(id)) users.push(id)
  })
  const listed = source.covers.groups ? [...directory.groups.keys()] : []
  const groups = yield* filterInSteps(listed, (id) => !source.seen.group.has(id) && !twice.group.has(id))
  return { user: users, group: groups }
}

/** A pure function: the same inputs give the same plan, in whatever order entries were read. */
export function makePlan(inputs: PlanInputs): Plan {
  return atOnce(planInSteps(inputs))
}

export function* planInSteps(inputs: PlanInputs): Steps<Plan> {
  const { source, directory, rules } = inputs
  const selections = compileSelections(rules.entries)
  const draft = new Draft(inputs, selections)
  const candidates = yield* deleteCandidates(source, directory)
  yield* forEachInSteps(candidates.user, (id) => draft.addDelete('user', id))
  yield* forEachInSteps(candidates.group, (id) => draft.addDelete('group', id))
  const emails = yield* ruleUserEmails(inputs, selections.user, draft.deletedUsers)
  draft.rule(emails)
  let compared = 0
  yield* eachToCompare(inputs, selections.user, emails, (want) => {
    compared += 1
    draft.addUser(want)
  })
  draft.addEqualUsers(source.users.size - compared)
  yield* forEachInSteps(source.groups.values(), (want) => draft.addGroup(want))
  yield* draft.addUnknownIds()
  yield* planMembers(inputs, selections, draft.afterwards(), draft.leaving, (group, found) => {
    draft.addMembers(group, found)
  })
  return yield* draft.finish()
}

/** Visits the users of the source without those that are surely unchanged: equal on both sides, and no notice. */
function* eachToCompare(
  { source, directory, only }: PlanInputs,
  selection: Selection,
  emails: EmailRulings,
  visit: (want: UserEntry) => void,
): Steps<void> {
  const sides = { source: source.users, directory: directory.users }
  if (only !== undefined || !selection.isAll) return yield* forEachInSteps(source.users.values(), visit)
  yield* forEachInSteps(differingUsers(sides), visit)
  return yield* forEachInSteps(emails.ruled, (id) => {
    const want = isAlike(sides, id) ? source.users.get(id) : undefined
    if (want !== undefined) visit(want)
  })
}
