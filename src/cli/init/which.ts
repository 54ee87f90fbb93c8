import type { EntryKind } from '../../compose/init.ts'
import { printable } from '../../printable.ts'
import type { Init } from './context.ts'

type FilterFlag = '--users-filter' | '--groups-filter'

const TYPED = ' (typed)'
const NARROWER = ' (narrower)'

/** The questions of this file. */
export function filterFlags(flag: FilterFlag): readonly string[] {
  return [flag, flag + TYPED, flag + NARROWER]
}

interface KindQuestion {
  readonly flag: FilterFlag
  readonly given: string | undefined
  readonly what: string
  readonly message: string
  readonly kinds: readonly EntryKind[]
  readonly count: (entries: number) => string
}

const OTHER = '\0other'

/** What was chosen: a kind, and the filter of those of them that an option names. */
export interface ChosenKind {
  readonly kind: string
  readonly filter: string
}

/**
 * Asks which kind of people or groups counts, of which a server may have several. A filter that an option gives is a part
 * of the kind, unless it names a kind itself.
 */
export async function askKind(init: Init, question: KindQuestion): Promise<ChosenKind> {
  const { flag, given } = question
  const filter = given !== undefined && init.answers.isOpen(flag) ? whole(given) : undefined
  if (filter !== undefined && namesKind(filter)) return { kind: filter, filter }
  const kind = await chooseKind(init, question, filter !== undefined)
  return { kind, filter: filter === undefined ? kind : both(kind, filter) }
}

/** Whether a filter says itself what kind of entries it finds. */
export function namesKind(filter: string): boolean {
  return /object(?:class|category)/i.test(filter)
}

async function chooseKind(
  { answers, steps }: Init,
  { flag, what, message, kinds, count }: KindQuestion,
  isPartGiven: boolean,
): Promise<string> {
  const [first, ...others] = kinds
  const isCertain = others.length === 0 || (isPartGiven && !answers.hasPerson)
  if (first !== undefined && isCertain && answers.isOpen(flag)) return first.filter
  const name = ({ filter, entries, isAll }: EntryKind) =>
    entries === undefined ? filter : `${printable(filter)}  (${isAll ? 'all ' : ''}${count(entries)})`
  const chosen = await answers.choose({
    flag,
    given: undefined,
    what,
    message,
    choices: [
      ...kinds.map((kind) => ({ value: kind.filter, name: name(kind) })),
      { value: OTHER, name: 'Another LDAP filter' },
    ],
  })
  if (chosen !== OTHER) return chosen
  const typed = await answers.text({
    flag: flag + TYPED,
    given: undefined,
    what,
    message: 'LDAP filter, such as (&(objectClass=person)(mail=*)):',
    check: steps.filterProblem,
  })
  return whole(typed)
}

interface NarrowerQuestion {
  readonly flag: FilterFlag
  /** Whoever gave the whole filter is not asked. */
  readonly given: string | undefined
  readonly what: string
  readonly message: string
  readonly proposed: string
}

/** Asks for a filter that says more about some of them; `undefined` where nobody has a wish. */
export async function askNarrower(
  { answers, steps }: Init,
  { flag, given, what, message, proposed }: NarrowerQuestion,
): Promise<string | undefined> {
  if (given !== undefined || (proposed === '' && !answers.hasPerson)) return undefined
  const typed = await answers.text({
    flag: flag + NARROWER,
    given: undefined,
    what,
    message,
    proposed,
    mayBeEmpty: true,
    check: (text) => (text === '' ? undefined : steps.filterProblem(text)),
  })
  return typed === '' ? undefined : whole(typed)
}

/** Those whom both filters find. */
export function both(filter: string, other: string): string {
  return filter.startsWith('(&') ? `${filter.slice(0, -1)}${other})` : `(&${filter}${other})`
}

/** People write a filter without the parentheses around it, too. */
function whole(filter: string): string {
  const trimmed = filter.trim()
  return trimmed.startsWith('(') ? trimmed : `(${trimmed})`
}
