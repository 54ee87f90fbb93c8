import type { FoundGroups } from '../../../source/ldap/discover/discover.ts'
import { printable } from '../../../base/printable.ts'
import { checkNotEmpty } from './check.ts'
import type { Init } from './context.ts'

type PlaceFlag = '--users-base' | '--groups-base'

const SEVERAL = ' (several)'
const TYPED = ' (typed)'

export function placeFlags(flag: PlaceFlag): readonly string[] {
  return [flag, flag + SEVERAL, flag + TYPED]
}

interface PlaceQuestion {
  readonly flag: PlaceFlag
  readonly given: readonly string[] | undefined
  readonly what: string
  readonly message: string
  readonly count: (entries: number) => string
  readonly searched: readonly string[]
  readonly found: FoundGroups['ofAll']
}

export type Base = string | string[]

const SOME = 'some'
const OTHER = 'other'
export const NOWHERE = 'none'

export async function askPlace(init: Init, question: PlaceQuestion): Promise<Base> {
  const { answers, steps } = init
  const { flag, given, what, message, count, found } = question
  if (given !== undefined && answers.isOpen(flag)) return oneOrMore(given)
  const everywhere = wholePlace(question)
  const chosen = await answers.choose({
    flag,
    given: undefined,
    what,
    message,
    choices: [
      {
        value: everywhere.join('|'),
        name: `${everywhere.map(printable).join(' and ')}  (all ${count(found.entries)})`,
      },
      ...(found.places.length > 1 ? [{ value: SOME, name: 'Only in some of the places there' }] : []),
      ...(flag === '--groups-base' ? [{ value: NOWHERE, name: 'Nowhere: sync no groups' }] : []),
      { value: OTHER, name: 'Somewhere else' },
    ],
  })
  if (chosen === NOWHERE) return NOWHERE
  if (chosen === SOME) return oneOrMore(steps.outermost(await askSeveral(init, question)))
  if (chosen !== OTHER) return oneOrMore(everywhere)
  const typed = await answers.text({
    flag: flag + TYPED,
    given: undefined,
    what,
    message: 'Its DN, or several with a | between them:',
    check: checkNotEmpty,
  })
  return oneOrMore(typed.split('|').map((dn) => dn.trim()))
}

function wholePlace({ found: { places, entries, cut }, searched }: PlaceQuestion): readonly string[] {
  const [first] = places
  return first !== undefined && first.entries === entries && cut === undefined ? [first.dn] : searched
}

function askSeveral(
  { answers, steps }: Init,
  { flag, what, count, found }: PlaceQuestion,
): Promise<readonly string[]> {
  return answers.chooseSeveral({
    flag: flag + SEVERAL,
    what,
    message: `In which of ${found.places.length}? Each counts with all that is below it; to leave out what is below, mark the places beside it.`,
    choices: steps.treeOf(found.places).map(({ dn, entries, depth, label }) => ({
      value: dn,
      short: printable(dn),
      name: `${'  '.repeat(depth)}${printable(label)}  (${count(entries)})`,
    })),
  })
}

function oneOrMore(bases: readonly string[]): Base {
  const [first = '', ...others] = bases
  return others.length === 0 ? first : [first, ...others]
}
