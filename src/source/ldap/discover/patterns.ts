import { type LdapEntry, lookupIn } from '../entry.ts'
import type { Mark } from './mark.ts'

/** Prefixes of logins that belong to no employee; a sign or a digit follows. */
const KINDS =
  'svc|srv|service|sa|adm|admin|root|test|demo|dummy|temp|tmp|training|schulung|ext|extern|external|gast|guest|bot|' +
  'robot|scan|kiosk|shared|funktion'
const LOGIN = new RegExp(String.raw`^(?:${KINDS})(?=[-_.\d])[-_.]?`, 'i')

/** Endings of names: ` - extern`, `(Agency)`, `[left]`. */
const ENDING = /(?:\s[-–|/]\s*\p{L}[\p{L}. ]*|\s?\([\p{L}. -]+\)|\s?\[[\p{L}. -]+\])$/u

interface Place {
  readonly attribute: string
  readonly pattern: RegExp
  /** A beginning or end of a single user is part of a name. */
  readonly fewest: number
  readonly textOf: (found: string) => string
  /** The beginnings or ends of values, as in a filter. */
  readonly valuesOf: (found: string) => readonly string[]
}

const DIGITS = Array.from({ length: 10 }, (_, digit) => digit)

/** `test1`, but not `tester`. */
const atBegin = {
  pattern: LOGIN,
  fewest: 1,
  textOf: (found: string) => (hasSign(found) ? `${found}…` : `${found}0… to ${found}9…`),
  valuesOf: (found: string) => (hasSign(found) ? [`${found}*`] : DIGITS.map((digit) => `${found}${digit}*`)),
}
const atEnd = {
  pattern: ENDING,
  fewest: 2,
  textOf: (found: string) => `…${found}`,
  valuesOf: (found: string) => [`*${found}`],
}

function hasSign(found: string): boolean {
  return /[-_.]$/.test(found)
}

const PLACES: readonly Place[] = [
  { attribute: 'sAMAccountName', ...atBegin },
  { attribute: 'uid', ...atBegin },
  { attribute: 'displayName', ...atEnd },
  { attribute: 'cn', ...atEnd },
]

export const PATTERN_ATTRIBUTES: readonly string[] = PLACES.map(({ attribute }) => attribute)

/** More different ones are parts of names. */
const MOST_PATTERNS = 12

/** Counts beginnings of logins and ends of names, where companies mark external accounts. */
export class Patterns {
  readonly #byPlace = PLACES.map((place) => ({
    place,
    found: new Map<string, { text: string; entries: number }>(),
  }))

  add(entry: LdapEntry): void {
    const lookup = lookupIn(entry)
    for (const { place, found } of this.#byPlace) {
      const [value = ''] = lookup(place.attribute)
      const [text] = place.pattern.exec(value.trim()) ?? []
      if (text === undefined) continue
      const key = text.toLowerCase()
      const known = found.get(key)
      if (known === undefined) found.set(key, { text, entries: 1 })
      else known.entries += 1
    }
  }

  /** An end in two attributes is reported for the second only where that has more entries. */
  marks(escaped: (text: string) => string): Mark[] {
    const told = new Map<string, number>()
    return this.#byPlace.flatMap(({ place: { attribute, fewest, textOf, valuesOf }, found }) => {
      const values = [...found]
        .filter(([key, { entries }]) => entries >= fewest && entries > (told.get(key) ?? 0))
        .map(([key, { text, entries }]) => {
          const filters = valuesOf(escaped(text)).map((value) => `(${attribute}=${value})`)
          const filter = filters.length === 1 ? filters.join('') : `(|${filters.join('')})`
          return { key, text: textOf(text), entries, filter }
        })
      if (values.length === 0 || values.length > MOST_PATTERNS) return []
      for (const { key, entries } of values) told.set(key, entries)
      const shown = values.map(({ text, entries, filter }) => ({ text, entries, filter }))
      return [{ attribute, values: shown.toSorted((a, b) => b.entries - a.entries) }]
    })
  }
}
