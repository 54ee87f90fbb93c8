import type { EntryRules } from '../plan/selection.ts'
import { addressFault, isInDomains, isSameEmail } from '../entries/normalize.ts'
import type { DirectoryUser } from '../entries/entry.ts'

export interface DiffRules {
  /**
   * `mirror` may create, update and delete; `upsert` may create and update; `create-only` may only create. It decides
   * here only which e-mails are claimed: the check `policy` blocks what it forbids.
   */
  readonly policy: 'mirror' | 'upsert' | 'create-only'
  readonly membership: Membership
  /** If empty, every domain is allowed. */
  readonly allowedDomains: readonly string[]
  /** Whether a user with an invalid e-mail, or one of another domain, is written without it. Default false. */
  readonly dropBadEmails?: boolean
  /** Whether an e-mail may have several users. Default `unique`. */
  readonly emails?: 'unique' | 'shared'
  readonly entries?: EntryRules | undefined
}

/** An e-mail that the directory already has may stay, whatever its domain. */
export function mayHaveEmail(
  email: string,
  have: DirectoryUser | undefined,
  { allowedDomains, dropBadEmails = false }: Pick<DiffRules, 'allowedDomains' | 'dropBadEmails'>,
): boolean {
  if (have !== undefined && isSameEmail(email, have.email)) return true
  if (dropBadEmails) return addressFault(email, allowedDomains) === undefined
  return allowedDomains.length === 0 || isInDomains(email, allowedDomains)
}

/** Whether a sync ignores the members of groups, reports their differences, or writes them. */
export type Membership = 'off' | 'report' | 'write'
