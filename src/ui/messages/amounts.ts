import { amount } from '../../base/wording.ts'
import type { Op } from '../../core/plan/change.ts'
import { total } from '../../operations/total.ts'

type Counts = Readonly<Partial<Record<Op, number>>>

const NOUNS = [
  ['delete', 'deletion'],
  ['update', 'update'],
  ['create', 'creation'],
] as const

/** `135 deletions and 2 updates of users, membership changes in 3 groups`; `no changes` */
export function amountsText(counts: Counts): string {
  const members = counts['set-members'] ?? 0
  const parts = [ofKind(counts, 'user'), ofKind(counts, 'group')]
  if (members > 0) parts.push(`membership changes in ${amount(members, 'group')}`)
  return parts.filter((part) => part !== '').join(', ') || 'no changes'
}

function ofKind(counts: Counts, kind: 'user' | 'group'): string {
  const some = NOUNS.map(([verb, noun]) => [counts[`${verb}-${kind}`] ?? 0, noun] as const)
  const texts = some.filter(([number]) => number > 0).map(([number, noun]) => amount(number, noun))
  if (texts.length === 0) return ''
  const isOne = total(Object.fromEntries(some.map(([number, noun]) => [noun, number]))) === 1
  return `${inWords(texts)} of ${isOne ? `a ${kind}` : `${kind}s`}`
}

/** `a, b and c` */
export function inWords(texts: readonly string[]): string {
  return [texts.slice(0, -1).join(', '), ...texts.slice(-1)].filter((text) => text !== '').join(' and ')
}

/** `is` or `are`, `needs` or `need` after `amountsText`. */
export function isPlural(counts: Counts): boolean {
  return total(counts) !== 1 || (counts['set-members'] ?? 0) > 0
}
