/** One entry of a `link` header. */
export interface Link {
  readonly relation: string
  /** Of the URI; absolute or a path. */
  readonly path: string
  readonly query: URLSearchParams
}

/** The entries of a `link` header (RFC 8288, before that 5988); `undefined` where it is not one. */
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

/** Nothing stands between the entries that is none. */
function isLinkHeader(header: string): boolean {
  return /^(\s*<[^>]*>\s*;\s*rel="?\w+"?\s*(,|$))+$/.test(header)
}
