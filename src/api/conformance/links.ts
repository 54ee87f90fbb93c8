export interface Link {
  readonly relation: string
  /** The URI may be absolute or a path only. */
  readonly path: string
  readonly query: URLSearchParams
}

/** RFC 8288, formerly RFC 5988; `undefined` if the header is invalid. */
export function parseLinks(header: string): readonly Link[] | undefined {
  const links: Link[] = []
  for (const [entry, uri = '', relation = ''] of header.matchAll(
    /\s*<([^>]*)>\s*;\s*rel="?(\w+)"?\s*(?:,|$)/gy,
  )) {
    if (entry === '') return undefined
    const url = URL.parse(uri, 'http://any.invalid')
    if (url === null) return undefined
    links.push({ relation, path: url.pathname, query: url.searchParams })
  }
  return links.length > 0 && isLinkHeader(header) ? links : undefined
}

/** The header consists of entries only, with nothing between them. */
function isLinkHeader(header: string): boolean {
  return /^(\s*<[^>]*>\s*;\s*rel="?\w+"?\s*(,|$))+$/.test(header)
}
