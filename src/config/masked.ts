import { maskMapping } from './masked-expression.ts'
import {
  type Hide,
  maskAttribute,
  maskDn,
  maskFilter,
  maskOrigin,
  maskPlain,
  maskUrl,
} from './masked-text.ts'
import { secretOptions } from './secret-options.ts'

const MASKED = '<masked>'

/** Options whose texts are shown except e-mail addresses. An option that is in no list of this file is masked. */
const PLAIN =
  words(`dataDir listen level people time rows schedule timezone type ca certificate startTls external
  allowPlainText pageSize connect handshake bind firstAnswer answer read vendor referrals confirmAfter scope disabled
  nested membersFrom primaryGroup path delimiter quote encoding sha256 maxAge separator badRows settle
  watch timeout maxOutput maxEntries organizationId directoryId allowedDomains dropBadEmails readConcurrency writeConcurrency
  createBatch requests per membership emails policy deleteAfter runs maxDeletes maxDeletePercent maxDeletesPerDay
  maxUpdates maxUpdatePercent minSourceUsers maxSourceShrinkPercent maxMovedIds holdsExpireAfter trustedProxies
  hosts userHeader failuresInRow events host port security`)
const SECTIONS =
  words(`admin worker log notifications channels retention syncs source tls timeouts users groups members map trailer directory rateLimit
  entries guards memberships`)
const URLS = words('store queue url baseUrl proxy')
const SECRETS = secretOptions()
/** Options that hold the path of a file; operators sometimes write the secret itself there. */
const SECRET_FILES = words('file key')
const EXPRESSIONS = words('name email employee_id external_id members value')
const FILTERS = words('filter disabledWhen')
const BASES = words('base')
const ATTRIBUTES = words('column')
/** Possible personal data: the bind account, a default value, a regular expression. */
const PEOPLE = words('dn default pattern to')
const PEOPLE_LISTS = words('include exclude protected')

/** Every option that this version masks or shows, for a test that compares it with the schema. */
export const DECIDED: ReadonlySet<string> = new Set([
  ...PLAIN,
  ...SECTIONS,
  ...URLS,
  ...SECRETS.names,
  ...SECRET_FILES,
  ...EXPRESSIONS,
  ...FILTERS,
  ...BASES,
  ...ATTRIBUTES,
  ...PEOPLE,
  ...PEOPLE_LISTS,
  'command',
  'credential',
  'env',
  'id',
  'from',
  'group',
  'user',
])

/**
 * A configuration, valid or not, for strangers: without secrets, bind DNs and ids of users, but with addresses and
 * attributes. Of filters, bases and expressions it shows the structure.
 */
export function maskConfig(raw: unknown, hide: Hide): unknown {
  return new Mask(hide).value(raw, [])
}

class Mask {
  readonly #hide: Hide

  constructor(hide: Hide) {
    this.#hide = hide
  }

  /** `path` is that of the section, without list indexes. */
  value(value: unknown, path: readonly string[]): unknown {
    const key = path.at(-1) ?? ''
    if (SECRET_FILES.has(key)) return this.#secret(key, value)
    if (PEOPLE_LISTS.has(key)) return this.#people(value)
    if (key === 'command') return shownCommand(value, this.#hide)
    if (key === 'env') return Array.isArray(value) ? value.map(shownVariable) : shownVariable(value)
    if (Array.isArray(value)) return value.map((each) => this.value(each, path))
    if (typeof value === 'object' && value !== null)
      return URLS.has(key) ? this.#secret(key, value) : this.#section(value, path)
    return typeof value === 'string' ? this.#text(value, path) : isKnown(key) ? value : MASKED
  }

  #section(section: object, path: readonly string[]): unknown {
    return Object.fromEntries(
      Object.entries(section).map(([key, value]) => {
        if (SECRETS.isIn(section, key)) return [key, this.#secret(key, value)]
        return DECIDED.has(key) ? [key, this.value(value, [...path, key])] : [this.#hide(key), MASKED]
      }),
    )
  }

  #text(text: string, path: readonly string[]): string {
    const key = path.at(-1) ?? ''
    if (PEOPLE.has(key)) return this.#hide(text)
    if (FILTERS.has(key)) return maskFilter(text, this.#hide)
    if (BASES.has(key)) return maskDn(text, this.#hide)
    if (ATTRIBUTES.has(key)) return maskAttribute(text, this.#hide)
    if (key === 'url') return maskOrigin(text, this.#hide)
    if (URLS.has(key)) return maskUrl(text, this.#hide)
    if (key === 'bind' && path.at(-2) !== 'timeouts') return MASKED
    if (isNameOfSync(path)) return maskPlain(text, this.#hide)
    if (path.includes('map') || EXPRESSIONS.has(key)) return maskMapping(text, this.#hide)
    return PLAIN.has(key) ? maskPlain(text, this.#hide) : MASKED
  }

  /** Shows where the secret is, never a value in its place. */
  #secret(key: string, value: unknown): unknown {
    if (typeof value === 'string') return SECRET_FILES.has(key) ? shownPath(value, this.#hide) : MASKED
    if (typeof value !== 'object' || value === null) return MASKED
    return Object.fromEntries(
      Object.entries(value).map(([kind, where]) => {
        if (kind === 'env') return [kind, shownVariable(where)]
        if (kind === 'file') return [kind, shownPath(where, this.#hide)]
        if (kind === 'credential') return [kind, shownCredential(where)]
        return kind === 'command' ? [kind, shownCommand(where, this.#hide)] : [this.#hide(kind), MASKED]
      }),
    )
  }

  #people(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#people(each))
    if (typeof value !== 'object' || value === null) return this.#hide(String(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        DECIDED.has(key) ? key : this.#hide(key),
        this.#people(each),
      ]),
    )
  }
}

function isKnown(key: string): boolean {
  return PLAIN.has(key) || URLS.has(key) || SECTIONS.has(key)
}

/** Other names are values of a map. */
function isNameOfSync(path: readonly string[]): boolean {
  return path.join('.') === 'syncs.name'
}

/** Names of variables have capital letters; another text may be the secret itself. */
function shownVariable(name: unknown): string {
  return typeof name === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(name) ? name : MASKED
}

/** A text without a folder and an extension may be the secret itself. */
function shownPath(path: unknown, hide: Hide): string {
  const isPath =
    typeof path === 'string' && /^(?:[\w. -]*\/[\w./ -]*|[\w.-]+\.(?:pem|key|crt|txt))$/.test(path)
  return isPath && !/[A-Za-z0-9]{20}/.test(path) ? maskPlain(path, hide) : MASKED
}

/** Names of credentials end in a known word; another text may be the secret itself. */
function shownCredential(name: unknown): unknown {
  return typeof name === 'string' && /^(?:[a-z]+-)*(?:password|token|secret|key|url)$/.test(name)
    ? name
    : MASKED
}

/** Arguments may hold secrets. */
function shownCommand(command: unknown, hide: Hide): unknown {
  if (!Array.isArray(command)) return MASKED
  return command.map((part, place) =>
    place === 0 && typeof part === 'string' && /^[\w./+-]+$/.test(part) ? maskPlain(part, hide) : MASKED,
  )
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}
