/** ASCII without blanks and capital letters: already canonical, as most addresses are. */
const CANONICAL = /^[!-@[-~]*$/

/** The form in which e-mail addresses are compared. The directory gets the mapped value, not this form. */
export function canonicalEmail(email: string): string {
  if (CANONICAL.test(email)) return email
  // NFC again after lowercasing: J with a caron has one code point only in lower case.
  return email.normalize('NFC').trim().toLowerCase().normalize('NFC')
}

/** Compares two e-mail addresses; `null` equals an empty one. */
export function isSameEmail(email: string | null, other: string | null): boolean {
  return email === other || canonicalEmail(email ?? '') === canonicalEmail(other ?? '')
}

/** The form in which two names are compared. */
export function canonicalName(name: string): string {
  return name.normalize('NFC').trim()
}

/** A name as people look for it: without case and accents. */
export function foldedName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The part after the last `@`, canonical; empty without an `@`. */
export function emailDomain(email: string): string {
  const canonical = canonicalEmail(email)
  const at = canonical.lastIndexOf('@')
  return at < 0 ? '' : canonical.slice(at + 1)
}

/** Whether the e-mail is in one of these domains. */
export function isInDomains(email: string, domains: readonly string[]): boolean {
  const domain = emailDomain(email)
  return domains.some((one) => one.toLowerCase() === domain)
}

/** Compares by code unit, independent of the locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Sorts by code unit and removes duplicates. */
export function sortedUnique(ids: Iterable<string>): string[] {
  const all = [...ids]
  const isSorted = all.every((id, place) => place === 0 || all[place - 1]! < id)
  return isSorted ? all : [...new Set(all)].toSorted(byCodeUnit)
}
