import type { Company, Draft } from '../company.ts'
import type { KindLimits, Part } from '../story.ts'

/**
 * What a world is about: one protection, or a few that meet. Chance alone seldom reaches most protections, so each world
 * has its theme in turn.
 */
export interface Theme {
  readonly name: string
  /** Before the service is filled. */
  readonly begin?: (company: Company) => void
  /** Makes one step; the first one has the number 0. */
  readonly step: (company: Company, draft: Draft, number: number) => void
  /** Nothing else happens in its worlds. */
  readonly isQuiet?: boolean
  /** By default, 3 to 6. */
  readonly steps?: number
}

export const PARTS: readonly Part[] = [
  { kinds: ['user'] },
  { kinds: ['group'] },
  { names: ['creates'] },
  { names: ['updates'] },
  { names: ['deletes'] },
  { names: ['members'] },
  { names: ['creates', 'members'], kinds: ['group'] },
]

export function limit(
  company: Company,
  kind: 'users' | 'groups' | 'memberships',
  limits: Partial<KindLimits>,
): void {
  const { rules } = company
  rules.limits = { ...rules.limits, [kind]: { ...rules.limits[kind], ...limits } }
}

/** Ends the first steps without a hold, so that the later ones have a last good run. */
export function settle(draft: Draft, number: number): void {
  if (number <= 1) draft.decides.push({ does: 'approve' })
}

export function hideContainer({ users }: Company, draft: Draft, container: string): readonly string[] {
  const ids = [...users.values()].filter((user) => user.container === container).map(({ id }) => id)
  for (const id of ids) draft.hidden.user.add(id)
  return ids
}

export function grow(company: Company, users: number): void {
  while (company.users.size < users) company.hire()
}

export function leaveSome(company: Company, count: number): readonly string[] {
  const leaving = company.some(Math.min(count, company.users.size - 3))
  for (const id of leaving) company.leave(id)
  return leaving
}
