import { addressFault } from '../../../../src/core/entries/address.ts'
import type { DirectoryUser } from '../../../../src/core/entries/entry.ts'
import { isInDomains, isSameEmail } from '../../../../src/core/entries/normalize.ts'
import type { DiffRules } from './differences.ts'

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
