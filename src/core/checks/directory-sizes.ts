import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { Facts } from './check.ts'
import type { PerKind } from './tally.ts'

export function* directorySizes({ wanted }: Facts): Steps<PerKind<number>> {
  const { users, groups } = wanted.snapshots.directory
  let memberships = 0
  yield* forEachInSteps(groups.values(), ({ members }) => (memberships += members.length))
  return { users: users.size, groups: groups.size, memberships }
}
