import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { differingIds } from '../entries/users.ts'
import type { Differences } from './differences.ts'

export function* unchangedIn(wanted: Differences): Steps<number> {
  const { snapshots, selections, updates, members, reported } = wanted
  const { source, directory } = snapshots
  let users = source.users.size - updates.length
  yield* forEachInSteps(differingIds(snapshots, 'source'), (id) => {
    if (!directory.users.has(id)) users -= 1
  })
  if (!selections.user.isAll)
    yield* forEachInSteps(source.users.keys(), (id) => {
      if (directory.users.has(id) && wanted.isExcluded('user', id)) users -= 1
    })
  let groups = 0
  yield* forEachInSteps(source.groups.keys(), (id) => {
    if (!directory.groups.has(id) || wanted.isExcluded('group', id)) return
    const differs =
      members.has(id) || reported.has(id) || wanted.keyOfValue('group', id, 'name') !== undefined
    if (!differs) groups += 1
  })
  return users + groups
}
