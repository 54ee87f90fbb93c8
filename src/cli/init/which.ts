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

/** Asks for the filter of people or groups, of which a server may have several kinds. */
export async function askKind(
  { answers, steps }: Init,
  { flag, given, what, message, kinds, count }: KindQuestion,
): Promise<string> {
  const [first, ...others] = kinds
  if (given !== undefined && answers.isOpen(flag)) return whole(given)
  if (first !== undefined && others.length === 0 && answers.isOpen(flag)) return first.filter
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
