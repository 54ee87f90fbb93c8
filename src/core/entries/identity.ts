/** In UTF-8. Percent-encoding makes an id up to three times as long, and it must fit into a request line. */
const MAX_ID_BYTES = 2048

/** Most ids, such as UUIDs; the full check of a million others takes a second. */
const PLAIN_ID = /^[\w-]{1,200}$/

/**
 * Returns why an external id cannot be used, or `undefined`. Ids are compared byte for byte, without case folding or
 * trimming. Only ids that do not fit safely in a URL path are refused: `/users/..` would be another path, and proxies
 * treat control characters differently. All others (`/`, `?`, `#`, `%`, `;`, blanks, any script) are percent-encoded.
 */
export function idProblem(id: string): string | undefined {
  if (PLAIN_ID.test(id)) return undefined
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
