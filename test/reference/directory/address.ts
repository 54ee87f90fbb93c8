import { isInDomains } from './normalize.ts'

/** As services check what stands before the last `@`, and that there is a domain at all. */
const NAMED = /^[^\s@<>()[\],;:"‹›]{1,64}@[^\s@]+$/u
const DOMAIN = /@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u

/** Whether services take it as an e-mail address: a name of at most 64 characters, and a domain. */
function isAddress(email: string): boolean {
  return NAMED.test(email) && DOMAIN.test(email)
}

/** What is wrong with an e-mail, after its name; `undefined` where nothing is. Without domains every one is allowed. */
export function addressFault(email: string, allowedDomains: readonly string[]): string | undefined {
  // A domain that somebody allows may be any word.
  const isNone = allowedDomains.length === 0 ? !isAddress(email) : !NAMED.test(email)
  if (isNone) return 'is no address'
  if (allowedDomains.length === 0 || isInDomains(email, allowedDomains)) return undefined
  return 'is outside the allowed domains'
}
