import { Problem } from './problem.ts'

type FormValue = string | FormValue[] | FormObject
interface FormObject {
  [name: string]: FormValue
}

/** How deep a name such as `groups[][external_member_ids][]` may be nested. */
const MAX_DEPTH = 8

/** Enough for the members of a very large group, and few enough to parse within a second. */
const MAX_FIELDS = 250_000

/**
 * Decodes `application/x-www-form-urlencoded` with the Rack convention: `a[]` appends to a list, `a[b]` sets a key,
 * and in `a[][b]` a key that the last entry of the list already has starts the next entry. A list of one empty
 * value (`a[]=`) is the empty list, because a form has no other way to say so. Throws a `Problem` (malformed).
 */
export function parseForm(text: string): FormObject {
  const form = newObject()
  const pairs = text.split('&')
  if (pairs.length > MAX_FIELDS) {
    throw new Problem('malformed', `The form has more than ${MAX_FIELDS} fields.`)
  }
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    assign(form, splitName(name), value, name)
  }
  emptyLists(form)
  return form
}

/** Without a prototype, so that a name such as `__proto__` is a name like any other. */
function newObject(): FormObject {
  return Object.create(null) as FormObject
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new Problem('malformed', 'The form is not valid percent-encoded UTF-8.')
  }
}

/** `a[][b]` is `['a', '', 'b']`. */
function splitName(name: string): string[] {
  const open = name.indexOf('[')
  if (open < 0) return [name]
  const brackets = name.slice(open)
  if (open === 0 || !/^(\[[^[\]]*\])+$/.test(brackets)) {
    throw new Problem('malformed', `The form has a field whose name is not well-formed: "${shorten(name)}".`)
  }
  const segments = [name.slice(0, open), ...brackets.slice(1, -1).split('][')]
  if (segments.length > MAX_DEPTH) {
    throw new Problem('malformed', `The form has a field that is nested too deep: "${shorten(name)}".`)
  }
  return segments
}

function assign(into: FormObject, segments: readonly string[], value: string, name: string): void {
  const [key, next, ...rest] = segments as [string, ...string[]]
  if (next === undefined) {
    into[key] = value
  } else if (next !== '') {
    const child = (into[key] ??= newObject())
    if (typeof child === 'string' || Array.isArray(child)) throw mixedUse(name)
    assign(child, [next, ...rest], value, name)
  } else {
    const list = (into[key] ??= [])
    if (!Array.isArray(list)) throw mixedUse(name)
    append(list, rest, value, name)
  }
}

function append(list: FormValue[], segments: readonly string[], value: string, name: string): void {
  if (segments.length === 0) {
    list.push(value)
    return
  }
  const last = list.at(-1)
  if (isObject(last) && !isSet(last, segments)) {
    assign(last, segments, value, name)
    return
  }
  const entry = newObject()
  assign(entry, segments, value, name)
  list.push(entry)
}

/** Whether the entry has a value under this name already; a nested list never has, because it takes any number. */
function isSet(entry: FormObject, segments: readonly string[]): boolean {
  if (segments.includes('')) return false
  let at: FormValue | undefined = entry
  for (const segment of segments) {
    if (!isObject(at) || !(segment in at)) return false
    at = at[segment]
  }
  return true
}

function emptyLists(value: FormValue): void {
  if (typeof value === 'string') return
  if (Array.isArray(value) && value.length === 1 && value[0] === '') value.length = 0
  for (const child of Object.values(value)) emptyLists(child)
}

function isObject(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object' && !Array.isArray(value)
}

function mixedUse(name: string): Problem {
  return new Problem(
    'malformed',
    `The form uses one name in two ways, the second time in "${shorten(name)}".`,
  )
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
