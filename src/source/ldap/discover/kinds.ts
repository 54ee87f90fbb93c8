import type { Log } from '../../../base/log/log.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import type { Vendor } from '../options.ts'
import { PROFILES } from '../vendor.ts'
import { count, type Looking } from './count.ts'
import type { ServerOptions } from './server.ts'

export interface EntryKind {
  readonly filter: string
  /** `undefined` where there is no other kind. */
  readonly entries: number | undefined
  readonly isAll: boolean
}

/** Classes of users: current ones, and those of thirty years ago. */
const USER_CLASSES = ['inetOrgPerson', 'organizationalPerson', 'person', 'posixAccount', 'account']

/** A class and its superior classes, which OpenLDAP does not write into an entry. */
const LINEAGE = ['inetOrgPerson', 'organizationalPerson', 'person']

/** Classes of groups, and the attribute in which each lists its members. */
const GROUP_CLASSES: ReadonlyMap<string, string> = new Map([
  ['groupOfNames', 'member'],
  ['groupOfUniqueNames', 'uniqueMember'],
  ['posixGroup', 'memberUid'],
])
export const GROUP_MEMBERS: readonly string[] = [...GROUP_CLASSES.values()]

export function anyGroup(vendor: Vendor): string {
  const filters = [...GROUP_CLASSES.keys()].map(ofClass)
  const usual = PROFILES[vendor].groupFilter
  return anyOf(usual === undefined ? filters : [...new Set([usual, ...filters])])
}

/**
 * The kinds of users or groups on a server: the vendor's usual one first, and all together last. A server whose usual
 * kind is not one class has only that. Rejects like `Source.read`.
 */
export async function discoverKinds(
  kind: 'user' | 'group',
  options: ServerOptions,
  looking: Looking,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EntryKind[]> {
  const { userFilter, groupFilter } = PROFILES[looking.vendor]
  const usual = kind === 'user' ? userFilter : groupFilter
  const classes = kind === 'user' ? USER_CLASSES : [...GROUP_CLASSES.keys()]
  const isOther = usual !== undefined && !classes.map(ofClass).includes(usual)
  if (isOther) return [{ filter: usual, entries: undefined, isAll: true }]
  const patterns = new Map<string, { readonly classes: ReadonlySet<string>; entries: number }>()
  const search = { options, looking, filter: anyOf(classes.map(ofClass)), attributes: ['objectClass'] }
  await count(search, log, signal, (entry) => {
    const has = classesOf(entry, classes)
    const key = has.join(' ')
    const pattern = patterns.get(key)
    if (pattern === undefined) patterns.set(key, { classes: new Set(has), entries: 1 })
    else pattern.entries += 1
  })
  return kindsOf([...patterns.values()], classes, usual)
}

function classesOf(entry: LdapEntry, classes: readonly string[]): readonly string[] {
  const names = new Set(lookupIn(entry)('objectClass').map((name) => name.toLowerCase()))
  const isNamed = (name: string) => names.has(name.toLowerCase())
  const lowest = LINEAGE.findIndex(isNamed)
  const above = lowest < 0 ? [] : LINEAGE.slice(lowest)
  return classes.filter((name) => isNamed(name) || above.includes(name))
}

interface Pattern {
  readonly classes: ReadonlySet<string>
  readonly entries: number
}

function kindsOf(
  patterns: readonly Pattern[],
  classes: readonly string[],
  usual: string | undefined,
): readonly EntryKind[] {
  const all = sum(patterns)
  const isWithin = (part: string, whole: string) =>
    patterns.every(({ classes: has }) => !has.has(part) || has.has(whole))
  const known = classes.filter((name) => patterns.some(({ classes: has }) => has.has(name)))
  // Of two classes of the same entries, the first is the better one.
  const different = known.filter(
    (name, at) => !known.slice(0, at).some((other) => isWithin(name, other) && isWithin(other, name)),
  )
  const kinds = different
    .map((name) => {
      const entries = sum(patterns.filter(({ classes: has }) => has.has(name)))
      return { filter: ofClass(name), entries, isAll: entries === all }
    })
    .toSorted((a, b) => Number(b.filter === usual) - Number(a.filter === usual) || b.entries - a.entries)
  const [first] = kinds
  if (first === undefined || first.isAll) return kinds.slice(0, 1)
  if (kinds.some(({ isAll }) => isAll)) return kinds
  const widest = different.filter(
    (name) => !different.some((other) => other !== name && isWithin(name, other)),
  )
  return [...kinds, { filter: anyOf(widest.map(ofClass)), entries: all, isAll: true }]
}

function sum(patterns: readonly Pattern[]): number {
  return patterns.reduce((total, { entries }) => total + entries, 0)
}

function ofClass(name: string): string {
  return `(objectClass=${name})`
}

function anyOf(filters: readonly string[]): string {
  return `(|${filters.join('')})`
}
