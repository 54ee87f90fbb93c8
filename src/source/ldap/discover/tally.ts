import { Containers } from '../containers.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'

export interface FoundPlace {
  readonly dn: string
  readonly entries: number
}

interface Pattern {
  readonly attributes: ReadonlySet<string>
  entries: number
}

/** Counts any number of entries by container and by the attributes that they have. */
export class Tally {
  readonly #attributes: readonly string[]
  readonly #patterns = new Map<string, Pattern>()
  readonly #containers = new Containers()
  readonly #byContainer = new Map<string, FoundPlace>()
  #entries = 0

  /** @param attributes the counted ones, in the spelling of the schema */
  constructor(attributes: readonly string[]) {
    this.#attributes = attributes
  }

  get entries(): number {
    return this.#entries
  }

  add(entry: LdapEntry): void {
    this.#entries += 1
    const lookup = lookupIn(entry)
    const has = this.#attributes.filter((name) => hasValue(name, lookup(name)) || isRanged(entry, name))
    const key = has.join(' ')
    const pattern = this.#patterns.get(key)
    if (pattern === undefined) this.#patterns.set(key, { attributes: new Set(has), entries: 1 })
    else pattern.entries += 1
    const container = this.#containers.of(entry.dn)
    const before = this.#byContainer.get(container)
    const dn = before?.dn ?? originalParent(entry.dn, container)
    this.#byContainer.set(container, { dn, entries: (before?.entries ?? 0) + 1 })
  }

  /** Entries with at least one of these sets of attributes. */
  having(anyOf: readonly (readonly string[])[]): number {
    let count = 0
    for (const { attributes, entries } of this.#patterns.values()) {
      if (anyOf.some((all) => all.every((name) => attributes.has(name)))) count += entries
    }
    return count
  }

  /**
   * The containers of entries: first the smallest one around all of them, then those within it with many entries, the
   * fullest first. A container that holds no more than one within it is left out.
   */
  places(most: number): readonly FoundPlace[] {
    const above = new Map<string, FoundPlace>()
    for (const { dn, entries } of this.#byContainer.values()) {
      for (const each of withParents(dn)) {
        const key = dnKey(each)
        above.set(key, { dn: above.get(key)?.dn ?? each, entries: (above.get(key)?.entries ?? 0) + entries })
      }
    }
    const repeating = new Set<string>()
    for (const { dn, entries } of above.values()) {
      const parent = dnKey(withParents(dn)[1] ?? '')
      if (above.get(parent)?.entries === entries) repeating.add(parent)
    }
    return [...above]
      .flatMap(([key, place]) => (repeating.has(key) ? [] : [place]))
      .toSorted((a, b) => b.entries - a.entries || a.dn.length - b.dn.length)
      .slice(0, most)
  }
}

export interface TreePlace extends FoundPlace {
  /** 0 for a place in no other one. */
  readonly depth: number
  /** The DN relative to the place around it. */
  readonly label: string
}

/** Each place is followed by those within it. The wider ones come first, as `Tally.places` has them. */
export function treeOf(places: readonly FoundPlace[]): readonly TreePlace[] {
  const nodes = places.map((place) => ({ place, key: dnKey(place.dn) }))
  const around = ({ key }: Node) =>
    nodes.filter((other) => key.endsWith(`,${other.key}`)).toSorted((a, b) => b.key.length - a.key.length)[0]
  const within = (parent: Node | undefined, depth: number): readonly TreePlace[] =>
    nodes.flatMap((node) => {
      if (around(node) !== parent) return []
      const label = labelIn(node.place.dn, parent?.place.dn)
      return [{ ...node.place, depth, label }, ...within(node, depth + 1)]
    })
  return within(undefined, 0)
}

interface Node {
  readonly place: FoundPlace
  readonly key: string
}

function labelIn(dn: string, parent: string | undefined): string {
  return parent !== undefined && dn.endsWith(`,${parent}`) ? dn.slice(0, -parent.length - 1) : dn
}

/** A value of these counts only where it is an address. */
const ADDRESSES: ReadonlySet<string> = new Set(['mail', 'userPrincipalName'])

function hasValue(name: string, values: readonly string[]): boolean {
  if (ADDRESSES.has(name)) return values.some((value) => value.includes('@'))
  return values.some((value) => value.trim() !== '')
}

/** A server may send the first of many values under a name of their range. */
function isRanged({ attributes }: LdapEntry, name: string): boolean {
  const begin = `${name.toLowerCase()};range=`
  return [...attributes.keys()].some((key) => key.startsWith(begin))
}

/** The parent as the server writes it; in its normal form where it cannot be cut safely from the DN. */
function originalParent(dn: string, container: string): string {
  const [, parent = container] = withParents(dn)
  return dnKey(parent) === container ? parent : container
}

/** A DN and its ancestors, without the empty one. */
function withParents(dn: string): readonly string[] {
  const all: string[] = []
  for (let rest = dn; rest !== ''; rest = rest.slice(firstEnd(rest) + 1)) {
    all.push(rest)
    if (firstEnd(rest) === rest.length) break
  }
  return all
}

/** Where the first part of a DN ends: at a comma that is neither escaped nor quoted. */
function firstEnd(dn: string): number {
  let isQuoted = false
  for (let at = 0; at < dn.length; at += 1) {
    const character = dn[at]
    if (character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) return at
  }
  return dn.length
}
