import { byCodeUnit } from '../../base/order.ts'

/** ASCII without blanks and capital letters, as most addresses are: already canonical. */
const CANONICAL = /^[!-@[-~]*$/

/** For comparison only: the directory gets the mapped value. */
export function canonicalEmail(email: string): string {
  if (CANONICAL.test(email)) return email
  // NFC again after lowercasing: J with a caron has one code point only in lower case.
  return email.normalize('NFC').trim().toLowerCase().normalize('NFC')
}

/** `null` equals an empty e-mail. */
export function isSameEmail(email: string | null, other: string | null): boolean {
  return email === other || canonicalEmail(email ?? '') === canonicalEmail(other ?? '')
}

export function canonicalName(name: string): string {
  return name.normalize('NFC').trim()
}

const ASCII = /^[ -~]*$/

/** For searches: without case and accents. */
export function foldedName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase()
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The part after the last `@`, canonical; empty without an `@`. */
export function emailDomain(email: string): string {
  const canonical = canonicalEmail(email)
  const at = canonical.lastIndexOf('@')
  return at < 0 ? '' : canonical.slice(at + 1)
}

export function isInDomains(email: string, domains: readonly string[]): boolean {
  const domain = emailDomain(email)
  return domains.some((one) => one.toLowerCase() === domain)
}

/** Sorts by code unit. */
export function sortedUnique(ids: Iterable<string>): string[] {
  const all = [...ids]
  const isSorted = all.every((id, place) => place === 0 || all[place - 1]! < id)
  return isSorted ? all : [...new Set(all)].toSorted(byCodeUnit)
}

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
