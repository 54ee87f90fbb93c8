import { byCodeUnit } from '../../../base/order.ts'
import { type Proposal, waysOf } from './propose.ts'
import type { Tally } from './tally.ts'

/** The name of an entry: the first of these parts of which it has all attributes. */
interface NameWay {
  readonly expression: string | readonly string[]
  readonly needs: readonly Part[]
}

type Part = readonly string[]

const DISPLAY: Part = ['displayName']
const FULL: Part = ['givenName', 'sn']
const CN: Part = ['cn']

const ORDERS: readonly (readonly Part[])[] = [
  [DISPLAY],
  [FULL],
  [DISPLAY, FULL],
  [FULL, DISPLAY],
  [DISPLAY, FULL, CN],
  [FULL, DISPLAY, CN],
  [DISPLAY, CN],
  [FULL, CN],
  [CN],
]

const NAMES: readonly NameWay[] = ORDERS.map((needs) => {
  const parts = needs.map((part) => (part === FULL ? '{givenName} {sn}' : part.join()))
  return { expression: parts.length === 1 ? parts[0]! : parts, needs }
})

/** Parts of a display name that belong to no name, or that put the family name first. */
const ODD_NAME = /[,()[\]]|(?:^|\s)[^\p{L}\p{N}\s](?:\s|$)/u

/** Whether services that split a name into first and last name would split this one wrongly. */
export function isOddName(name: string): boolean {
  return ODD_NAME.test(name)
}

const FAMILY_NAME_FIRST = '^([^,]+), *([^,]+)$'

/** `Roth, Björn` as `Björn Roth`. */
function turn(name: string): string {
  return name.replace(new RegExp(FAMILY_NAME_FIRST), '$2 $1')
}

function turnedExpression(needs: readonly Part[]): string {
  const parts = needs.map((part) =>
    part === FULL ? 'givenName + " " + sn' : `replace(${part.join()}, r"${FAMILY_NAME_FIRST}", "$2 $1")`,
  )
  return parts.length === 1 ? `= ${parts[0]!}` : `= first(${parts.join(', ')})`
}

interface Odd {
  entries: number
  example: string
}

export class NameTally {
  readonly #plain = NAMES.map((): Odd => ({ entries: 0, example: '' }))
  readonly #turned = NAMES.map((): Odd => ({ entries: 0, example: '' }))

  add(lookup: (attribute: string) => readonly string[]): void {
    const plain = new Map([DISPLAY, FULL, CN].map((part) => [part, nameOf(part, lookup)]))
    const turned = new Map(
      [...plain].map(([part, name]) => [part, part === FULL ? name : name && turn(name)]),
    )
    for (const [at, { needs }] of NAMES.entries()) {
      addTo(this.#plain[at]!, firstOf(needs, plain))
      addTo(this.#turned[at]!, firstOf(needs, turned))
    }
  }

  oddIn({ needs }: NameWay): { readonly plain: Odd; readonly turned: Odd } {
    const at = NAMES.findIndex((way) => way.needs === needs)
    return { plain: this.#plain[at]!, turned: this.#turned[at]! }
  }
}

function firstOf(needs: readonly Part[], names: ReadonlyMap<Part, string>): string {
  return needs.map((part) => names.get(part)!).find(Boolean) ?? ''
}

function addTo(odd: Odd, name: string): void {
  if (!isOddName(name)) return
  odd.entries += 1
  if (odd.example === '') odd.example = name
}

/** As in a mapping; empty where a value is missing. */
function nameOf(part: Part, lookup: (attribute: string) => readonly string[]): string {
  const values = part.map((attribute) => lookup(attribute).toSorted(byCodeUnit).map(trim).find(Boolean) ?? '')
  return values.includes('') ? '' : values.join(' ')
}

const trim = (value: string) => value.trim()

/** More odd names than these are a habit of the company. */
const HABIT = 0.01

/**
 * The first is the most frequent way or, where its names are often odd, the least odd one. A name turned round may be
 * wrong, as `Smith, Jr.` is, so it comes after the same one unturned.
 */
export function nameProposals(tally: Tally, names: NameTally): readonly Proposal[] {
  const ways = waysOf(tally, NAMES).toSorted((a, b) => b.entries - a.entries)
  const oddIn = (way: NameWay) => names.oddIn(way).plain.entries
  const isHabit = ways[0] !== undefined && oddIn(ways[0]) > tally.entries * HABIT
  const sorted = isHabit ? ways.toSorted((a, b) => b.entries - a.entries || oddIn(a) - oddIn(b)) : ways
  return sorted.flatMap((way) => proposalsOf(way, names.oddIn(way)))
}

/** The way unturned, and turned where that makes fewer odd names. */
function proposalsOf(
  { expression, needs, entries }: NameWay & { readonly entries: number },
  { plain, turned }: { readonly plain: Odd; readonly turned: Odd },
): readonly Proposal[] {
  const first = { expression, entries, odd: plain }
  if (turned.entries >= plain.entries) return [first]
  const words = `${[expression].flat().join(', else ')}, with "Family, First" turned round`
  return [first, { expression: turnedExpression(needs), words, entries, odd: turned }]
}
