/** Replaces a text with possible personal data by a hash. */
export type Hide = (text: string) => string

const EMAIL = /[^\s"'<>()[\],;:=/\\*]+@[^\s"'<>()[\],;:=/\\*]+/gu
const HOME = /(?<=\/(?:home|Users)\/)[^/\s]+/g

/** Hides e-mail addresses and the names of home folders. */
export function maskPlain(text: string, hide: Hide): string {
  return text.replace(EMAIL, hide).replace(HOME, hide)
}

const WORDS = /[\p{L}\p{M}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su

/** One hash replaces everything from the first letter or digit to the last one. */
export function hideWords(text: string, hide: Hide): string {
  return text.replace(WORDS, hide)
}

/** Any text that is no name of an attribute or column is hidden. */
export function maskAttribute(text: string, hide: Hide): string {
  return /^[\p{L}_][\p{L}\p{M}\p{N}_ .;-]{0,63}$/u.test(text.trim()) ? text : hideWords(text, hide)
}

const PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'application_name', 'connect_timeout'])

export function maskUrl(text: string, hide: Hide): string {
  if (!text.includes('://')) return text === 'embedded' || text === 'store' ? text : hide(text)
  const url = URL.parse(text)
  if (url === null) return hide(text)
  const hasUser = url.username !== '' || url.password !== ''
  const shown = [...url.searchParams].map(([key, value]) =>
    PARAMETERS.has(key) ? `${key}=${maskPlain(value, hide)}` : `${hide(key)}=<masked>`,
  )
  const query = shown.length === 0 ? '' : `?${shown.join('&')}`
  // The path of an LDAP URL is a DN.
  const path = url.protocol.startsWith('ldap') ? hideWords(url.pathname, hide) : maskPlain(url.pathname, hide)
  const fragment = url.hash === '' ? '' : '#<masked>'
  return `${url.protocol}//${hasUser ? '<masked>@' : ''}${url.host}${path === '/' ? '' : path}${query}${fragment}`
}

/** Hides path and parameters, which may be a webhook's secret; those of an LDAP URL are none. */
export function maskOrigin(text: string, hide: Hide): string {
  const url = URL.parse(text)
  if (url?.protocol.startsWith('ldap') === true) return maskUrl(text, hide)
  if (url === null || url.host === '') return hide(text)
  url.pathname = ''
  url.search = ''
  url.hash = ''
  return maskUrl(url.href, hide)
}

/** Parts of a DN whose values are domains and branches of a tree, never names of users. */
const BRANCHES: ReadonlySet<string> = new Set(['dc', 'ou', 'domaincomponent', 'organizationalunitname'])
const CONTAINERS: ReadonlySet<string> = new Set(
  'users builtin computers groups accounts compat schema configuration person group'.split(' '),
)
const RDN = /^(\s*)([A-Za-z][\w-]*)(\s*=\s*)(.*?)(\s*)$/s
const BRANCH = /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u

/** Keeps the values of `dc` and `ou`; those of all other attributes may be names of users. */
export function maskDn(text: string, hide: Hide): string {
  const parts = text.match(/"(?:\\.|[^"\\])*"?|\\.|[^\\",;+]+|./gs) ?? []
  let masked = ''
  let rdn = ''
  for (const part of parts) {
    if (/^[,;+]$/.test(part)) {
      masked += maskRdn(rdn, hide) + part
      rdn = ''
    } else rdn += part
  }
  return masked + maskRdn(rdn, hide)
}

function maskRdn(text: string, hide: Hide): string {
  const [, before = '', type = '', sign = '', value = '', after = ''] = RDN.exec(text) ?? []
  if (type === '') return text.trim() === '' ? text : hide(text)
  const key = type.toLowerCase()
  const isShown =
    (BRANCHES.has(key) && BRANCH.test(value)) || (key === 'cn' && CONTAINERS.has(value.toLowerCase()))
  return before + type + sign + (isShown || value === '' ? value : hide(value)) + after
}

/** In a filter: a comparison with the time of the read, or the text between two parentheses. */
const CLAUSE = /([^()]*[<>~:]?=\s*)now\(([^()]*)\)(?=\s*\))|[^()]+/g
const COMPARISON =
  /^([\s&|!]*)((?:[A-Za-z][A-Za-z\d-]*|\d+(?:\.\d+)+)?(?:;[A-Za-z\d-]+)*\s*(?::dn)?(?::[A-Za-z][A-Za-z\d-]*|:\d+(?:\.\d+)+)?\s*(?::|[<>~])?=)(.*)$/s
const KINDS: ReadonlySet<string> = new Set(['objectclass', 'objectcategory', 'structuralobjectclass'])
const FLAGS: ReadonlySet<string> = new Set(['useraccountcontrol', 'grouptype'])

/** Keeps the values that cannot be personal data. */
export function maskFilter(text: string, hide: Hide): string {
  return text.replace(CLAUSE, (clause, beforeTime: string | undefined, form = '') => {
    if (beforeTime === undefined) return maskClause(clause, hide)
    const shown = /^\s*(?:filetime)?\s*$/.test(form) ? form : hide(form)
    return `${maskClause(beforeTime, hide)}now(${shown})`
  })
}

function maskClause(clause: string, hide: Hide): string {
  if (/^[\s&|!]*$/.test(clause)) return clause
  const [, before = '', comparison = '', value = ''] = COMPARISON.exec(clause) ?? []
  if (comparison === '') return hide(clause)
  const attribute = /^[^;:<>~=\s]*/.exec(comparison)![0].toLowerCase()
  return before + comparison + maskValue(attribute, value, hide)
}

function maskValue(attribute: string, value: string, hide: Hide): string {
  const isShown =
    /^\s*(?:true|false)?\s*$/i.test(value) ||
    (KINDS.has(attribute) && /^\s*[A-Za-z\d-]+\s*$/.test(value)) ||
    (FLAGS.has(attribute) && /^\s*-?\d{1,10}\s*$/.test(value))
  if (isShown) return value
  if (attribute === 'objectcategory' && value.includes('=')) return maskDn(value, hide)
  const parts = value.split('*').map((part) => (part.trim() === '' ? part : hide(part)))
  return parts.join('*')
}
