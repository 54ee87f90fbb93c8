import { isInDomains } from './normalize.ts'

/** What services check: the part before the last `@`, and that there is a domain. */
const NAMED = /^[^\s@<>()[\],;:"‹›]{1,64}@[^\s@]+$/u
const DOMAIN = /@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u

function isAddress(email: string): boolean {
  return NAMED.test(email) && DOMAIN.test(email)
}

type AddressFault = 'no-address' | 'other-domain'

/** Without domains every one is allowed. */
export function addressFault(email: string, allowedDomains: readonly string[]): AddressFault | undefined {
  // An allowed domain may be any word.
  const isNone = allowedDomains.length === 0 ? !isAddress(email) : !NAMED.test(email)
  if (isNone) return 'no-address'
  if (allowedDomains.length === 0 || isInDomains(email, allowedDomains)) return undefined
  return 'other-domain'
}
