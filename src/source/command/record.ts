import type { Kind } from '../../core/entries/entry.ts'
import type { Lookup } from '../mapping.ts'
import { repeatedName } from './names.ts'
import { oneLine } from './tail.ts'

/** In characters. */
const SHOWN = 60

export type OutputLine =
  | { readonly type: 'blank' }
  | { readonly type: 'entry'; readonly kind: Kind; readonly lookup: Lookup }
  | { readonly type: 'end'; readonly users: number; readonly groups: number }
  | { readonly type: 'wrong'; readonly why: string }

/**
 * Reads one line: `{"user": {…}}`, `{"group": {…}}` or the last one, `{"complete": true, "users": 2, "groups": 1}`.
 * Values of an entry are strings, numbers, booleans, null, or lists of these; all become text. `hide` removes secrets
 * from the parts of the line that messages show.
 */
export function parseLine(line: string, hide = (text: string) => text): OutputLine {
  const excerpt = (text: string) => oneLine(hide(text)).slice(0, SHOWN)
  const value = parseJson(line)
  if (value === undefined) return notJson(line, excerpt)
  if (!isObject(value)) return wrong('is JSON, but not an object')
  const twice = repeatedName(line, value)
  if (twice !== undefined) return wrong(`has the name "${excerpt(twice)}" twice`)
  const keys = Object.keys(value)
  if (keys.includes('complete')) return parseEnd(value, keys)
  const [kind, ...more] = keys
  if ((kind !== 'user' && kind !== 'group') || more.length > 0) {
    return wrong('is neither {"user": {…}} nor {"group": {…}} nor {"complete": true, …}')
  }
  const fields = value[kind]
  if (!isObject(fields)) return wrong(`has a "${kind}" that is not an object`)
  for (const [name, field] of Object.entries(fields)) {
    const nested = Array.isArray(field) ? field.some(isNested) : isNested(field)
    if (nested) return wrong(`has a value of "${excerpt(name)}" that is neither text nor a list of texts`)
  }
  return { type: 'entry', kind, lookup: lookupIn(fields) }
}

type Fields = Readonly<Record<string, unknown>>

function parseEnd(value: Fields, keys: readonly string[]): OutputLine {
  const { complete, users, groups = 0 } = value
  const known = keys.every((key) => ['complete', 'users', 'groups'].includes(key))
  if (complete !== true || !isCount(users) || !isCount(groups) || !known) {
    return wrong('is not a last line such as {"complete": true, "users": 2, "groups": 1}')
  }
  return { type: 'end', users, groups }
}

/** Numbers that JavaScript would write differently; may also match in a string. */
const INEXACT = /[:[,]\s*(?:-0|-?\d{16}|-?\d+[.eE])/

function parseJson(line: string): unknown {
  try {
    return INEXACT.test(line) ? JSON.parse(line, asWritten as Reviver) : JSON.parse(line)
  } catch {
    return undefined
  }
}

/** TypeScript's reviver type lacks the context with the text of a number. */
type Reviver = (key: string, value: unknown) => unknown

/** Keeps the text of a number: rounded, a long id may be another user's. */
function asWritten(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context.source : value
}

/** A line that cannot be an entry is mostly a message of the program. */
function notJson(line: string, excerpt: (text: string) => string): OutputLine {
  const begin = line.trim()
  if (begin === '') return { type: 'blank' }
  if (begin.startsWith('{')) return wrong('is not JSON, or was cut off')
  return wrong(`is not JSON, it begins with "${excerpt(begin)}"`)
}

function wrong(why: string): OutputLine {
  return { type: 'wrong', why }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Own fields only: an entry has no field `constructor` unless the program printed one. */
function lookupIn(fields: Fields): Lookup {
  return (name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    const values = Array.isArray(value) ? value : [value]
    return values.filter((each) => each !== undefined && each !== null).map(String)
  }
}
