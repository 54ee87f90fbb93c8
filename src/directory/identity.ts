/** Bytes of an id in UTF-8. Percent-encoded it is up to three times as long, and must fit into a request line. */
const MAX_ID_BYTES = 2048

/**
 * Why an external id cannot be used, or `undefined` when it can. Ids are compared byte for byte and never folded or
 * trimmed. Refused is only what no URL path can carry safely: `/users/..` would be another path, and proxies differ about
 * control characters. Everything else (`/`, `?`, `#`, `%`, `;`, blanks, any script) travels percent-encoded.
 */
export function idProblem(id: string): string | undefined {
  if (id === '') return 'the id is empty'
  if (id === '.' || id === '..') return `the id "${id}" cannot be part of a URL path`
  if (!id.isWellFormed()) return 'the id is not well-formed Unicode'
  if (/\p{Cc}/u.test(id)) return `the id ${JSON.stringify(shortened(id))} holds a control character`
  const bytes = Buffer.byteLength(id)
  if (bytes > MAX_ID_BYTES) return `the id "${shortened(id)}" has ${bytes} bytes, more than ${MAX_ID_BYTES}`
  return undefined
}

function shortened(id: string): string {
  return id.length > 40 ? `${id.slice(0, 40).toWellFormed()}…` : id
}
