import type { EntryKind } from '../../../source/ldap/discover/kinds.ts'
import { printable } from '../../../base/printable.ts'
import type { Init } from './context.ts'

type FilterFlag = '--users-filter' | '--groups-filter'

const KIND = ' (kind)'
const TYPED = ' (typed)'
const NARROWER = ' (narrower)'

export function filterFlags(flag: FilterFlag): readonly string[] {
  return [flag, flag + KIND, flag + TYPED, flag + NARROWER]
}

interface KindQuestion {
  readonly flag: FilterFlag
  readonly given: string | undefined
  readonly what: string
  readonly message: string
  readonly kinds: readonly EntryKind[]
  readonly count: (entries: number) => string
}

const GIVEN = '\0given'
const OTHER = '\0other'

/** The kind, and the filter of an option that selects some of it. */
export interface ChosenKind {
  readonly kind: string
  readonly filter: string
  /** Whether the option gives the whole filter, so that no part of the kind is asked for. */
  readonly isGiven: boolean
}

/** A filter from an option narrows the kind, unless it names a kind itself. */
export async function askKind(init: Init, question: KindQuestion): Promise<ChosenKind> {
  const { flag, given } = question
  const chosen =
    given !== undefined && init.answers.isOpen(flag) ? GIVEN : await chooseKind(init, question, flag)
  if (chosen !== GIVEN || given === undefined) return { kind: chosen, filter: chosen, isGiven: false }
  const filter = whole(given)
  if (namesKind(filter)) return { kind: filter, filter, isGiven: true }
  const [only, ...others] = question.kinds
  const isCertain = only !== undefined && (others.length === 0 || !init.answers.hasPerson)
  const kind = isCertain
    ? only.filter
    : await chooseKind(init, { ...question, given: undefined }, flag + KIND)
  return { kind, filter: both(kind, filter), isGiven: true }
}

/** Whether a filter selects an object class itself. */
export function namesKind(filter: string): boolean {
  return /object(?:class|category)/i.test(filter)
}

async function chooseKind(
  { answers, steps }: Init,
  { flag: option, given, what, message, kinds, count }: KindQuestion,
  flag: string,
): Promise<string> {
  const [first, ...others] = kinds
  if (first !== undefined && others.length === 0 && answers.isOpen(flag)) return first.filter
  const name = ({ filter, entries, isAll }: EntryKind) =>
    entries === undefined ? filter : `${printable(filter)}  (${isAll ? 'all ' : ''}${count(entries)})`
  const chosen = await answers.choose({
    flag,
    given: undefined,
    what,
    message,
    choices: [
      ...(given === undefined ? [] : [{ value: GIVEN, name: `${printable(given)}  (as ${option} says)` }]),
      ...kinds.map((kind) => ({ value: kind.filter, name: name(kind) })),
      { value: OTHER, name: 'Another LDAP filter' },
    ],
  })
  if (chosen !== OTHER) return chosen
  const typed = await answers.text({
    flag: option + TYPED,
    given: undefined,
    what,
    message: 'LDAP filter, such as (&(objectClass=person)(mail=*)):',
    check: steps.filterProblem,
  })
  return whole(typed)
}

interface NarrowerQuestion {
  readonly flag: FilterFlag
  readonly given: string | undefined
  readonly what: string
  readonly message: string
  readonly proposed: string
}

/** Asks for a narrower filter; `undefined` where none is wanted. */
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

export function both(filter: string, other: string): string {
  return filter.startsWith('(&') ? `${filter.slice(0, -1)}${other})` : `(&${filter}${other})`
}

/** Operators also write a filter without its outer parentheses. */
function whole(filter: string): string {
  const trimmed = filter.trim()
  return trimmed.startsWith('(') ? trimmed : `(${trimmed})`
}
