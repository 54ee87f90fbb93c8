import type { DirectoryGroup, DirectoryUser, GroupEntry, UserEntry } from '../../../src/directory/entry.ts'
import type { DirectorySnapshot, Sighting, SourceSnapshot } from '../../../src/directory/snapshot.ts'
import type { PlanInputs } from '../../../src/plan/inputs.ts'
import { makePlan } from '../../../src/plan/plan.ts'

/** Short ways to write both sides of a plan in a test. */
export function wantUser(
  id: string,
  name = `Name ${id}`,
  email: string | undefined = `${id}@example.org`,
): UserEntry {
  return { id, name, email, employeeId: undefined, from: `uid=${id}` }
}

export function wantGroup(id: string, name: string, members: readonly string[] = []): GroupEntry {
  return { id, name, members: members.toSorted(), from: `cn=${name}` }
}

export function haveUser(
  id: string,
  name: string | null = `Name ${id}`,
  email: string | null = `${id}@example.org`,
): DirectoryUser {
  return { id, name, email }
}

export function haveGroup(id: string, name: string, members: readonly string[] = []): DirectoryGroup {
  return { id, name, members: members.toSorted() }
}

export function sourceOf(
  users: readonly UserEntry[],
  groups: readonly GroupEntry[] = [],
  more: Partial<SourceSnapshot> = {},
): SourceSnapshot {
  return {
    users: new Map(users.map((user) => [user.id, user])),
    groups: new Map(groups.map((group) => [group.id, group])),
    seen: { user: new Set(users.map((user) => user.id)), group: new Set(groups.map((group) => group.id)) },
    covers: { groups: true, members: true },
    unreadable: 0,
    notices: [],
    ...more,
  }
}

export function directoryOf(
  users: readonly DirectoryUser[],
  groups: readonly DirectoryGroup[] = [],
  more: Partial<DirectorySnapshot> = {},
): DirectorySnapshot {
  return {
    users: new Map(users.map((user) => [user.id, user])),
    groups: new Map(groups.map((group) => [group.id, group])),
    notices: [],
    moved: false,
    unprovedEmpty: [],
    ...more,
  }
}

/** A plan with membership written, where the second look finds everything gone that the first one missed. */
export function planOf(source: SourceSnapshot, directory: DirectorySnapshot, more: Partial<PlanInputs> = {}) {
  return makePlan({
    source,
    directory,
    sightings: { user: allGone(directory.users.keys()), group: allGone(directory.groups.keys()) },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
    withheld: new Map(),
    ...more,
  })
}

function allGone(ids: Iterable<string>): Map<string, Sighting> {
  return new Map([...ids].map((id) => [id, 'gone']))
}

/** A plan as lines such as `update-user ana`. */
export function linesOf(plan: ReturnType<typeof makePlan>): string[] {
  return plan.changes.map(({ change }) => `${change.op} ${change.id}`)
}

export function noticesOf(plan: ReturnType<typeof makePlan>): string[] {
  return plan.notices.map((notice) => `${notice.code} ${notice.id ?? ''}`)
}
