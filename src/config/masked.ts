import { configJsonSchema } from './schema.ts'

/** Replaces a text with possible personal data. */
export type Hide = (text: string) => string

/** Which attributes a text names, by the title of its option. Throws where the text is of another form. */
export interface AttributeReaders {
  readonly 'LDAP filter': (text: string) => readonly string[]
  readonly expression: (text: string) => readonly string[]
}

interface Masking {
  readonly hide: Hide
  readonly attributesOf: AttributeReaders
}

interface Schema {
  readonly $ref?: string
  readonly title?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

const HIDDEN = '[hidden]'

const SECRET = '#/$defs/secret'

const ROOT = configJsonSchema() as Schema & { readonly $defs: Readonly<Record<string, Schema>> }

/** A title of the whole is that of its forms. */
function formsOf(schema: Schema): readonly Schema[] {
  if (schema.$ref === SECRET) return [schema]
  if (schema.$ref !== undefined) return formsOf(ROOT.$defs[schema.$ref.replace('#/$defs/', '')]!)
  const inner = schema.anyOf ?? schema.oneOf
  return inner?.flatMap(formsOf).map((form) => ({ title: schema.title ?? '', ...form })) ?? [schema]
}

/** Titles of options whose texts are no personal data, apart from what `plain` hides. */
const PLAIN: ReadonlySet<string> = new Set([
  'address',
  'cron expression or interval',
  'domain',
  'duration',
  'duration, 1d to 36500d',
  'encoding',
  'host name',
  'IP address or network',
  'name',
  'one character',
  'path',
  'size',
  'time zone',
])

/**
 * A configuration, valid or not, for strangers. The schema decides: what it does not know at a place is hidden, and so
 * is each text without a title of `PLAIN`. Of filters and expressions only the attributes are shown, of a URL its
 * origin, of a secret its place.
 */
export function maskConfig(raw: unknown, masking: Masking): unknown {
  function mask(value: unknown, forms: readonly Schema[]): unknown {
    if (forms.some(({ $ref }) => $ref === SECRET)) return placeOf(value, masking.hide)
    if (Array.isArray(value)) {
      const items = forms.flatMap((form) => form.items ?? []).flatMap(formsOf)
      return value.map((each) => mask(each, items))
    }
    if (typeof value === 'object' && value !== null) return maskSection(value, forms)
    if (forms.some((form) => form.const === value || form.enum?.includes(value) === true)) return value
    if (typeof value === 'string') return maskText(value, forms, masking)
    return forms.some(({ type }) => isOfType(value, type)) ? value : HIDDEN
  }

  function maskSection(section: object, forms: readonly Schema[]): object {
    const fitting = forms.filter((form) => isOfKind(section, form))
    const sections = fitting.length === 0 ? forms : fitting
    const masked = Object.entries(section).map(([key, value]) => {
      const known = sections.flatMap(({ properties = {} }) =>
        Object.hasOwn(properties, key) ? properties[key]! : [],
      )
      return known.length === 0 ? [masking.hide(key), HIDDEN] : [key, mask(value, known.flatMap(formsOf))]
    })
    return Object.fromEntries(masked)
  }

  return mask(raw, [ROOT])
}

/** Whether no constant of the form, such as its `type`, is another one here. */
function isOfKind(section: object, { properties = {} }: Schema): boolean {
  const values: Readonly<Record<string, unknown>> = { ...section }
  return Object.entries(properties).every(
    ([key, schema]) => schema.const === undefined || !(key in values) || values[key] === schema.const,
  )
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (value === null) return type === 'null'
  return typeof value === 'number' ? type === 'number' || type === 'integer' : typeof value === type
}

function maskText(text: string, forms: readonly Schema[], { hide, attributesOf }: Masking): unknown {
  for (const { title = '', pattern } of forms) {
    const isOfForm = pattern === undefined || new RegExp(pattern, 'u').test(text)
    // Several lines are a key instead of its path.
    if (PLAIN.has(title) && isOfForm && !text.includes('\n')) return plain(text, hide)
    if (title.endsWith(' URL')) return originOf(text, title) ?? hide(text)
    if (title === 'attribute or column') return attribute(text, hide)
    if (title in attributesOf) return attributesIn(text, attributesOf[title as keyof AttributeReaders], hide)
  }
  return hide(text)
}

const EMAIL = /[^\s"'<>()[\],;:=/\\*]+@[^\s"'<>()[\],;:=/\\*]+/gu
const HOME = /(?<=\/(?:home|Users)\/)[^/\s]+/g

/** Hides e-mail addresses and the names of home folders. */
export function plain(text: string, hide: Hide): string {
  return text.replace(EMAIL, hide).replace(HOME, hide)
}

/** A path may be a DN or the secret of a webhook. */
function originOf(text: string, title: string): string | undefined {
  const url = URL.parse(text)
  return url !== null && url.host !== '' && title.includes(`${url.protocol}//`)
    ? `${url.protocol}//${url.host}`
    : undefined
}

function attributesIn(
  text: string,
  read: (text: string) => readonly string[],
  hide: Hide,
): string | { readonly attributes: readonly string[] } {
  try {
    return { attributes: [...new Set(read(text))].map((name) => attribute(name, hide)) }
  } catch {
    return hide(text)
  }
}

function attribute(name: string, hide: Hide): string {
  return /^[\p{L}_][\p{L}\p{M}\p{N}_ .;-]{0,63}$/u.test(name) ? name : hide(name)
}

/** Where secrets are. A text of another form may be the secret itself. */
const PLACES: Readonly<Record<string, RegExp>> = {
  env: /^[A-Z][A-Z0-9_]{0,63}$/,
  file: /^(?!.*[A-Za-z0-9]{20})(?:[\w. -]*\/[\w./ -]*|[\w.-]+\.(?:pem|key|crt|txt))$/,
  credential: /^(?:[a-z]+-)*(?:password|token|secret|key|url)$/,
}

function placeOf(secret: unknown, hide: Hide): unknown {
  if (typeof secret !== 'object' || secret === null || Array.isArray(secret)) return HIDDEN
  const shown = Object.entries(secret).map(([kind, place]) => {
    const form = Object.hasOwn(PLACES, kind) ? PLACES[kind]! : undefined
    const isPlace = typeof place === 'string' && form?.test(place) === true
    const isKnown = form !== undefined || kind === 'command'
    return [isKnown ? kind : hide(kind), isPlace ? plain(place, hide) : HIDDEN]
  })
  return Object.fromEntries(shown)
}
