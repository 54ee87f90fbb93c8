import type { FoundGroups, FoundPeople, FoundPlace } from '../../compose/init.ts'
import { printable } from '../../printable.ts'
import { checkNotEmpty } from './check.ts'
import type { Init } from './context.ts'

type PlaceFlag = '--users-base' | '--groups-base'

const TYPED = ' (typed)'

/** The questions of `askPlace`. */
export function placeFlags(flag: PlaceFlag): readonly string[] {
  return [flag, flag + TYPED]
}

interface PlaceQuestion {
  readonly flag: PlaceFlag
  readonly given: readonly string[] | undefined
  readonly what: string
  readonly message: string
  readonly count: (entries: number) => string
  readonly found: FoundPeople | FoundGroups
}

/** One DN or several, as a configuration has them. */
export type Base = string | string[]

/** What stands in a list of choices for something that is not in it. */
const OTHER = 'other'
export const NOWHERE = 'none'

/** Asks where the entries are of which some were found; a person may say something else. */
export async function askPlace({ answers }: Init, question: PlaceQuestion): Promise<Base> {
  const { flag, given, what, message, count, found } = question
  if (given !== undefined && answers.isOpen(flag)) return oneOrMore(given)
  const chosen = await answers.choose({
    flag,
    given: undefined,
    what,
    message,
    choices: [
      ...found.places.map((place) => ({ value: place.dn, name: placeName(place, found, count) })),
      ...(flag === '--groups-base' ? [{ value: NOWHERE, name: 'Nowhere: sync no groups' }] : []),
      { value: OTHER, name: 'Somewhere else' },
    ],
  })
  if (chosen !== OTHER) return chosen
  const typed = await answers.text({
    flag: flag + TYPED,
    given: undefined,
    what,
    message: 'Its DN, or several with a | between them:',
    check: checkNotEmpty,
  })
  return oneOrMore(typed.split('|').map((dn) => dn.trim()))
}

function oneOrMore(bases: readonly string[]): Base {
  const [first = '', ...others] = bases
  return others.length === 0 ? first : [first, ...others]
}

function placeName(
  { dn, entries }: FoundPlace,
  found: PlaceQuestion['found'],
  count: PlaceQuestion['count'],
): string {
  const isAll = entries === found.entries && entries > 1 && found.cut === undefined
  return `${printable(dn)}  (${isAll ? 'all ' : ''}${count(entries)})`
}
