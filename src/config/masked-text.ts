type Hide = (text: string) => string

const EMAIL = /[^\s"'<>()[\],;:=/\\*]+@[^\s"'<>()[\],;:=/\\*]+/gu
/** The folder of a person on this machine. */
const HOME = /(?<=\/(?:home|Users)\/)[^/\s]+/g

/** A text that is shown, without e-mail addresses and the names of home folders. */
export function maskPlain(text: string, hide: Hide): string {
  return text.replace(EMAIL, hide).replace(HOME, hide)
}

/** Parameters of a PostgreSQL URL that say nothing secret. */
const PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'application_name', 'connect_timeout'])

/** The address without user, password and unknown parameters. */
export function maskUrl(text: string, hide: Hide): string {
  if (!text.includes('://')) return text === 'embedded' || text === 'store' ? text : hide(text)
  const url = URL.parse(text)
  if (url === null) return hide(text)
  const hasUser = url.username !== '' || url.password !== ''
  const shown = [...url.searchParams].map(([key, value]) =>
    PARAMETERS.has(key) ? `${key}=${maskPlain(value, hide)}` : `${hide(key)}=<masked>`,
  )
  const query = shown.length === 0 ? '' : `?${shown.join('&')}`
  const path = maskPlain(url.pathname, hide)
  const fragment = url.hash === '' ? '' : '#<masked>'
  return `${url.protocol}//${hasUser ? '<masked>@' : ''}${url.host}${path === '/' ? '' : path}${query}${fragment}`
}

/** A text in quotes that is made of words alone may be a name; a pattern or the end of an e-mail address is none. */
const NAME_IN_QUOTES = /(["'])([\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*)\1/gu

export function maskExpression(text: string, hide: Hide): string {
  const isExpression = text.trimStart().startsWith('=')
  const shown = isExpression
    ? text.replace(NAME_IN_QUOTES, (_match, quote: string, name: string) => `${quote}${hide(name)}${quote}`)
    : text
  return maskPlain(shown, hide)
}

/** Attributes that name a person, whatever the map says. */
const PERSONAL: ReadonlySet<string> = new Set(
  `uid cn sn givenname displayname name mail othermailbox proxyaddresses samaccountname userprincipalname employeenumber
  employeeid entryuuid objectguid objectsid nsuniqueid ipauniqueid uidnumber userid telephonenumber mobile initials`.split(
    /\s+/,
  ),
)
/** Many values of these are no list of people. */
const KINDS: ReadonlySet<string> = new Set(['objectclass', 'objectcategory', 'structuralobjectclass'])
const COMPARISON = /(?<=\(\s*)([A-Za-z][\w-]*)([^()=<>~]*(?:[<>~:]?=))([^()]*)/g
/** So many values of one attribute are a list of people. */
const LIST = 3

/** A filter without the values that are, or may be, people: ids, names, e-mails, DNs and lists of values. */
export function maskFilter(text: string, mapped: ReadonlySet<string>, hide: Hide): string {
  const counts = new Map<string, number>()
  for (const [, attribute = ''] of text.matchAll(COMPARISON))
    counts.set(attribute.toLowerCase(), (counts.get(attribute.toLowerCase()) ?? 0) + 1)
  return text.replace(COMPARISON, (match, attribute: string, operator: string, value: string) => {
    const key = attribute.toLowerCase()
    if (KINDS.has(key) || value.trim() === '' || value === '*') return match
    const isPersonal = PERSONAL.has(key) || mapped.has(key) || (counts.get(key) ?? 0) >= LIST
    if (!isPersonal && !/[=@]/.test(value)) return match
    const parts = value.split('*').map((part) => (part.trim() === '' ? part : hide(part)))
    return `${attribute}${operator}${parts.join('*')}`
  })
}
