import type { Kind, Losses, Seen, SeenGroup, Sighting, Step } from './story.ts'

/** What the source shows of an id when it is read once more. */
export function sightingOf({ recheck, seen }: Step, kind: Kind, id: string): Sighting {
  const entries = kind === 'user' ? seen.users : seen.groups.filter(({ isInFilter }) => isInFilter)
  return recheck[kind].get(id) ?? (entries.some((entry) => entry.id === id) ? 'present' : 'gone')
}

/** Whether the user has no name that a group could list. */
export function isNameless(step: Step, user: string): boolean {
  const lists = [...step.losses.unproved.values()].filter((users) => users !== 'all')
  const sighting = sightingOf(step, 'user', user)
  return sighting !== 'gone' && sighting !== 'disabled' && lists.some((users) => users.includes(user))
}

/** Whether what the group lists proves no removal. */
export function isUnproved({ unproved }: Losses, { id }: SeenGroup): boolean {
  return unproved.get(id) === 'all'
}

/** Whether the group lists names of users, and not only DNs. */
export function listsNames({ unproved }: Losses, { id }: SeenGroup): boolean {
  return unproved.has(id) && unproved.get(id) !== 'all'
}

/** Whether each list of the group is there, even where it has no member. */
export function showsAllLists(
  { losses: { provedEmpty }, seen: { memberAttributes } }: Step,
  { id, lists }: SeenGroup,
): boolean {
  const shown = new Set(lists.filter(isShown).map(({ attribute }) => attribute))
  return provedEmpty.has(id) || memberAttributes.every((attribute) => shown.has(attribute))
}

export function isShown({ users, nested, unresolved }: SeenGroup['lists'][number]): boolean {
  return users.length + nested.length + unresolved.length > 0
}

/** What names the group from run to run. */
export function keyOf({ id, dn, isInFilter }: SeenGroup): string {
  return isInFilter ? id : dn
}

export function groupsByDn({ groups }: Seen): ReadonlyMap<string, SeenGroup> {
  return new Map(groups.map((group) => [group.dn, group]))
}
