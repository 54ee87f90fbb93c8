import { Problem } from './problem.ts'

type FormValue = string | FormValue[] | FormObject
export interface FormObject {
  [name: string]: FormValue
}

/** Of a name such as `groups[][external_member_ids][]`. */
const MAX_DEPTH = 8

/** Enough for the members of a very large group. */
const MAX_FIELDS = 250_000

/** Characters of a name and its value, so that one field takes no more than a millisecond. */
const MAX_FIELD = 64 * 1024

export function parseForm(text: string): FormObject {
  const reader = new FormReader()
  reader.push(text)
  return reader.end()
}

/**
 * Decodes `application/x-www-form-urlencoded` with the Rack convention: `a[]` appends to a list, `a[b]` sets a key, and
 * in `a[][b]` a key that the last entry of the list already has starts the next entry. A repeated name has its last
 * value. A list of one empty value (`a[]=`) is the empty list, because a form has no other way to express it. Takes the
 * text in parts, so that a large form does not delay other requests. Throws a `Problem` (malformed).
 */
export class FormReader {
  readonly #form = newObject()
  /** Lists whose first value is empty: without a second one, they are the empty list. */
  readonly #maybeEmpty: FormValue[][] = []
  #rest = ''
  #fields = 0
  /** Long lists repeat one name. */
  #last: { readonly encoded: string; readonly name: Name } | undefined

  push(text: string): void {
    let begin = 0
    for (let end = text.indexOf('&'); end >= 0; end = text.indexOf('&', begin)) {
      this.#takeField(this.#rest + text.slice(begin, end))
      this.#rest = ''
      begin = end + 1
    }
    this.#rest += text.slice(begin)
    if (this.#rest.length > MAX_FIELD) throw tooLong()
  }

  end(): FormObject {
    this.#takeField(this.#rest)
    for (const list of this.#maybeEmpty) if (list.length === 1) list.length = 0
    return this.#form
  }

  #takeField(field: string): void {
    this.#fields += 1
    if (this.#fields > MAX_FIELDS) {
      throw new Problem('malformed', `The form has more than ${MAX_FIELDS} fields.`)
    }
    if (field.length > MAX_FIELD) throw tooLong()
    if (field === '') return
    const equals = field.indexOf('=')
    const name = this.#nameOf(equals < 0 ? field : field.slice(0, equals))
    this.#assign(this.#form, name, 0, equals < 0 ? '' : decode(field.slice(equals + 1)))
  }

  #nameOf(encoded: string): Name {
    if (this.#last?.encoded !== encoded) this.#last = { encoded, name: splitName(decode(encoded)) }
    return this.#last.name
  }

  #assign(into: FormObject, name: Name, at: number, value: string): void {
    const key = name.segments[at]!
    const next = name.segments[at + 1]
    if (next === undefined) {
      if (into[key] !== undefined && typeof into[key] !== 'string') throw mixedUse(name)
      into[key] = value
    } else if (next !== '') {
      const child = (into[key] ??= newObject())
      if (!isObject(child)) throw mixedUse(name)
      this.#assign(child, name, at + 1, value)
    } else {
      const list = (into[key] ??= [])
      if (!Array.isArray(list)) throw mixedUse(name)
      this.#append(list, name, at + 2, value)
    }
  }

  #append(list: FormValue[], name: Name, at: number, value: string): void {
    const last = list.at(-1)
    const isValue = at === name.segments.length
    if (last !== undefined && isValue !== (typeof last === 'string')) throw mixedUse(name)
    if (isValue) {
      if (value === '' && last === undefined) this.#maybeEmpty.push(list)
      list.push(value)
    } else if (isObject(last) && !isSet(last, name, at)) {
      this.#assign(last, name, at, value)
    } else {
      const entry = newObject()
      this.#assign(entry, name, at, value)
      list.push(entry)
    }
  }
}

interface Name {
  readonly text: string
  /** `a[][b]` is `['a', '', 'b']`. */
  readonly segments: readonly string[]
}

/** Without a prototype, so that `__proto__` is a name like any other. */
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

function splitName(text: string): Name {
  const open = text.indexOf('[')
  if (open < 0) return { text, segments: [text] }
  const brackets = text.slice(open)
  if (open === 0 || !/^(\[[^[\]]*\])+$/.test(brackets)) {
    throw new Problem('malformed', `The form has a field whose name is not well-formed: "${shorten(text)}".`)
  }
  const segments = [text.slice(0, open), ...brackets.slice(1, -1).split('][')]
  if (segments.length > MAX_DEPTH) {
    throw new Problem('malformed', `The form has a field that is nested too deep: "${shorten(text)}".`)
  }
  return { text, segments }
}

/** Whether the entry already has this name; a nested list never has, because it takes any number. */
function isSet(entry: FormObject, { segments }: Name, from: number): boolean {
  let value: FormValue | undefined = entry
  for (let at = from; at < segments.length; at += 1) {
    if (!isObject(value)) return false
    value = value[segments[at]!]
  }
  return typeof value === 'string'
}

function isObject(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object' && !Array.isArray(value)
}

function mixedUse({ text }: Name): Problem {
  return new Problem(
    'malformed',
    `The form uses one name in two ways, the second time in "${shorten(text)}".`,
  )
}

function tooLong(): Problem {
  return new Problem('malformed', `The form has a field of more than ${MAX_FIELD} characters.`)
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
