import { canonicalEmail, foldedName } from '../directory/normalize.ts'
import type { Change } from './change.ts'

/**
 * Whether the id seems to belong to another person now: the update changes name and e-mail, keeps no word of the name,
 * and changes the part of the e-mail before the `@`. A new surname, spelling or e-mail domain does not count.
 */
export function isMovedId(change: Change): boolean {
  if (change.op !== 'update-user') return false
  const { have, want } = change
  if (!have.name || !have.email || want.name === undefined || want.email === undefined) return false
  if (localPart(have.email) === localPart(want.email)) return false
  const before = new Set(wordsOf(have.name))
  const after = wordsOf(want.name)
  return before.size > 0 && after.length > 0 && !after.some((word) => before.has(word))
}

/** The words in lower case, without accents and punctuation. */
function wordsOf(name: string): readonly string[] {
  return foldedName(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

function localPart(email: string): string {
  const canonical = canonicalEmail(email)
  return canonical.slice(0, canonical.lastIndexOf('@'))
}
