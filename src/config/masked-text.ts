/** Puts a hash in the place of a text that may be about a person. */
export type Hide = (text: string) => string

const EMAIL = /[^\s"'<>()[\],;:=/\\*]+@[^\s"'<>()[\],;:=/\\*]+/gu
/** The folder of a person on this machine. */
const HOME = /(?<=\/(?:home|Users)\/)[^/\s]+/g

/** A text that is shown, without e-mail addresses and the names of home folders. */
export function maskPlain(text: string, hide: Hide): string {
  return text.replace(EMAIL, hide).replace(HOME, hide)
}

const WORDS = /[\p{L}\p{M}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su

/** The text with one hash for everything from its first letter or digit to its last one. */
export function hideWords(text: string, hide: Hide): string {
  return text.replace(WORDS, hide)
}

/** The name of an attribute or column; any other text is hidden. */
export function maskAttribute(text: string, hide: Hide): string {
  return /^[\p{L}_][\p{L}\p{M}\p{N}_ .;-]{0,63}$/u.test(text.trim()) ? text : hideWords(text, hide)
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
  // Of an LDAP server the path is a DN.
  const path = url.protocol.startsWith('ldap') ? hideWords(url.pathname, hide) : maskPlain(url.pathname, hide)
  const fragment = url.hash === '' ? '' : '#<masked>'
  return `${url.protocol}//${hasUser ? '<masked>@' : ''}${url.host}${path === '/' ? '' : path}${query}${fragment}`
}

/** The address without path and parameters, which of a webhook may be its secret; those of an LDAP server are none. */
export function maskOrigin(text: string, hide: Hide): string {
  const url = URL.parse(text)
  if (url?.protocol.startsWith('ldap') === true) return maskUrl(text, hide)
  if (url === null || url.host === '') return hide(text)
  url.pathname = ''
  url.search = ''
  url.hash = ''
  return maskUrl(url.href, hide)
}

/** Parts of a DN whose values are domains and branches of a tree, never people. */
const BRANCHES: ReadonlySet<string> = new Set(['dc', 'ou', 'domaincomponent', 'organizationalunitname'])
/** Containers that servers have from the beginning. */
const CONTAINERS: ReadonlySet<string> = new Set(
  'users builtin computers groups accounts compat schema configuration person group'.split(' '),
)
const RDN = /^(\s*)([A-Za-z][\w-]*)(\s*=\s*)(.*?)(\s*)$/s
const BRANCH = /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u

/** A DN with the values of `dc` and `ou`; those of all other attributes may be people. */
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

/** In a filter: a comparison with the time of the read, or what stands between two parentheses. */
const CLAUSE = /([^()]*[<>~:]?=\s*)now\(([^()]*)\)(?=\s*\))|[^()]+/g
const COMPARISON =
  /^([\s&|!]*)((?:[A-Za-z][A-Za-z\d-]*|\d+(?:\.\d+)+)?(?:;[A-Za-z\d-]+)*\s*(?::dn)?(?::[A-Za-z][A-Za-z\d-]*|:\d+(?:\.\d+)+)?\s*(?::|[<>~])?=)(.*)$/s
/** Attributes whose values are kinds of entries. */
const KINDS: ReadonlySet<string> = new Set(['objectclass', 'objectcategory', 'structuralobjectclass'])
/** Attributes whose values are bits. */
const FLAGS: ReadonlySet<string> = new Set(['useraccountcontrol', 'grouptype'])

/** A filter without its values, but for those that cannot be about people. */
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
