/** ASCII without blanks and capital letters, as most addresses are: canonical as it stands. */
const CANONICAL = /^[!-@[-~]*$/

/** The form in which two e-mail addresses are compared; what is written is the mapped value. */
export function canonicalEmail(email: string): string {
  if (CANONICAL.test(email)) return email
  // Some letters are one only when they are small: J with a caron.
  return email.normalize('NFC').trim().toLowerCase().normalize('NFC')
}

/** Whether two e-mail addresses are one; having none is like having an empty one. */
export function isSameEmail(email: string | null, other: string | null): boolean {
  return email === other || canonicalEmail(email ?? '') === canonicalEmail(other ?? '')
}

/** The form in which two names are compared. */
export function canonicalName(name: string): string {
  return name.normalize('NFC').trim()
}

/** The part behind the last `@`, canonical; empty where there is none. */
export function emailDomain(email: string): string {
  const canonical = canonicalEmail(email)
  const at = canonical.lastIndexOf('@')
  return at < 0 ? '' : canonical.slice(at + 1)
}

/** Compares by code unit, which does not depend on a locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Sorts by code unit and removes duplicates. */
export function sortedUnique(ids: Iterable<string>): string[] {
  return [...new Set(ids)].toSorted(byCodeUnit)
}
