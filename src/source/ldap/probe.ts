import { PresenceFilter } from 'ldapts'
import type { Lookup } from '../mapping.ts'
import type { ProbeLine } from '../source.ts'
import type { CompiledOptions, GroupPlace, UserPlace } from './compile.ts'
import type { LdapConnection, TlsFacts } from './connection/connection.ts'
import type { OpenServer } from './connection/servers.ts'
import { normalizeDn } from './dn.ts'
import { isGlobalCatalog } from './connection/endpoint.ts'
import { PAGED_RESULTS } from './connection/message.ts'
import { lookupIn } from './entry.ts'
import { bothOf } from './filter.ts'
import { ABOUT_CATALOGS } from './global-catalog.ts'
import type { LdapSourceOptions } from './options.ts'
import { probeAccounts } from './probe-accounts.ts'
import { probePosition } from './position/probe-position.ts'
import { SIZE_LIMIT_EXCEEDED, SUCCESS } from './connection/result.ts'
import { type FirstPage, searchSome, tryPage } from './search.ts'
import { refuseAliases } from './unseen.ts'
import { digits } from '../../base/wording.ts'

/** Throws when a base does not exist. */
export async function probe(
  connection: OpenServer,
  compiled: CompiledOptions,
  options: LdapSourceOptions,
): Promise<ProbeLine[]> {
  const root = connection.rootDse === undefined ? () => [] : lookupIn(connection.rootDse)
  const lines = [
    serverLine(connection),
    vendorLine(root, compiled, options),
    tlsLine(connection),
    readerLine(connection, options),
    pagingLine(root, compiled),
    ...(await probePosition(connection, compiled)),
  ]
  const pages: FirstPage[] = []
  for (const [label, place] of [
    ['users', compiled.users],
    ['groups', compiled.groups],
  ] as const) {
    if (place !== undefined)
      lines.push(...(await probePlace(connection, label, place, compiled.pageSize, pages)))
  }
  lines.push(...(await probeAccounts(connection, compiled)))
  return [...lines, ...noLimits(pages, compiled.pageSize)]
}

/** The pages that the server did not cut; a limit has a line of its own. */
function noLimits(pages: readonly FirstPage[], pageSize: number | undefined): ProbeLine[] {
  if (pages.some(({ code, more, entries }) => code !== SUCCESS || (more && entries !== pageSize))) return []
  const whole = pages.some(({ more }) => more)
    ? `the first page is full, with ${digits(pageSize ?? 0)} entries`
    : 'everything comes on one page'
  return [{ label: 'limits', detail: `none found: ${whole}`, level: 'ok' }]
}

function serverLine({ endpoint }: LdapConnection): ProbeLine {
  if (!isGlobalCatalog(endpoint)) return { label: 'server', detail: endpoint.url, level: 'ok' }
  return { label: 'server', detail: `${endpoint.url}: ${ABOUT_CATALOGS}`, level: 'warn' }
}

function vendorLine(root: Lookup, { profile }: CompiledOptions, { vendor }: LdapSourceOptions): ProbeLine {
  const own = [...root('vendorName'), ...root('vendorVersion')].join(' ')
  const said = own === '' ? '' : `, calls itself ${own}`
  const how = vendor === undefined ? 'found from what the server says about itself' : 'as configured'
  return { label: 'vendor', detail: `${profile.vendor}, ${how}${said}`, level: 'info' }
}

const SOON_MS = 21 * 86_400_000

function tlsLine({ endpoint, tls }: LdapConnection): ProbeLine {
  if (tls === undefined) {
    return { label: 'tls', detail: 'none: everything crosses the network in plain text', level: 'warn' }
  }
  const how = endpoint.encryption === 'starttls' ? ' by StartTLS' : ''
  const leftMs = tls.expiresMs - Date.now()
  const days = Math.floor(leftMs / 86_400_000)
  const until = Number.isNaN(days) ? '' : `, expires ${day(tls)}, in ${days === 1 ? '1 day' : `${days} days`}`
  const detail = `${tls.protocol}${how}, ${tls.cipher}, certificate of ${tls.subject}, issued by ${tls.issuer}${until}`
  return { label: 'tls', detail, level: leftMs < SOON_MS ? 'warn' : 'ok' }
}

function day({ expiresMs }: TlsFacts): string {
  return new Date(expiresMs).toISOString().slice(0, 10)
}

function readerLine({ identity }: LdapConnection, { bind }: LdapSourceOptions): ProbeLine {
  const label = 'reader'
  if (bind === undefined) {
    const detail = 'anonymous: such a reader may be shown less than there is, without being told'
    return { label, detail, level: 'warn' }
  }
  const who = bind.external === true ? 'bound by certificate' : `bound as ${bind.dn}`
  if (identity === undefined)
    return { label, detail: `${who}; the server does not say whom it sees`, level: 'ok' }
  const same = bind.dn !== undefined && normalizeDn(identity.replace(/^dn:/, '')) === normalizeDn(bind.dn)
  return {
    label,
    detail: same ? `${who}, as the server confirms` : `${who}; the server sees ${identity}`,
    level: 'ok',
  }
}

function pagingLine(root: Lookup, { pageSize }: CompiledOptions): ProbeLine {
  const label = 'paging'
  if (pageSize === undefined) return { label, detail: 'not used with this vendor', level: 'info' }
  if (root('supportedControl').includes(PAGED_RESULTS)) {
    return { label, detail: `offered; pages of ${digits(pageSize)} are asked for`, level: 'ok' }
  }
  return { label, detail: 'not offered, or not shown to this reader', level: 'warn' }
}

/** The bases, the page size, and mapped attributes that no entry has. */
async function probePlace(
  connection: LdapConnection,
  label: 'users' | 'groups',
  place: UserPlace | GroupPlace,
  pageSize: number | undefined,
  pages: FirstPage[],
): Promise<ProbeLine[]> {
  const unseen = new Set(place.map.attributes)
  const lines: ProbeLine[] = []
  let entries = 0
  for (const base of place.bases) {
    await requireBase(connection, base)
    const search = { ...place, base, attributes: place.map.attributes, pageSize }
    const page = await tryPage(connection, search, ({ attributes }) => {
      for (const name of unseen) if (attributes.has(name.toLowerCase())) unseen.delete(name)
    })
    entries += page.entries
    pages.push(page)
    const where = `${base} (scope ${place.scope}), filter ${place.filterText}`
    lines.push({ label, detail: where, level: 'ok' }, ...pageLines(page, pageSize))
  }
  const missing = entries === 0 ? [] : await neverSeen(connection, place, unseen)
  await refuseAliases(connection, `${label}.map`, missing)
  if (missing.length > 0) {
    const detail = `no entry has ${missing.join(', ')}, or the reader may not see it`
    lines.push({ label, detail, level: 'warn' })
  }
  return lines
}

function pageLines(
  { entries, references, code, more }: FirstPage,
  pageSize: number | undefined,
): ProbeLine[] {
  if (references > 0) {
    const places = references === 1 ? '1 other place' : `${references} other places`
    const detail = `the server names ${places} to look at, where dirsyncd does not look`
    return [{ label: 'references', detail, level: 'warn' }]
  }
  if (code === SIZE_LIMIT_EXCEEDED) {
    const remedy = `a pageSize of ${entries} helps where that is a limit of pages, otherwise its administrator has to`
    const detail = `the server gives this reader no more than ${digits(entries)} entries at once; ${remedy}`
    return [{ label: 'size limit', detail, level: 'warn' }]
  }
  // The read reports other results.
  if (code !== SUCCESS || !more || entries === pageSize) return []
  return [
    { label: 'page size', detail: `the server gives ${digits(entries)} entries on a page`, level: 'info' },
  ]
}

/** Attributes that no entry has: a typo, or the bind account cannot read them. */
async function neverSeen(
  connection: LdapConnection,
  place: UserPlace | GroupPlace,
  attributes: ReadonlySet<string>,
): Promise<string[]> {
  const missing: string[] = []
  for (const attribute of attributes) {
    let seen = false
    for (const base of place.bases) {
      const filter = bothOf(place.filter, new PresenceFilter({ attribute }))
      const search = {
        ...place,
        base,
        filter,
        filterText: `(${attribute}=*)`,
        attributes: [attribute],
        pageSize: 1,
      }
      await tryPage(connection, search, (entry) => {
        seen ||= lookupIn(entry)(attribute).length > 0
      })
      if (seen) break
    }
    if (!seen) missing.push(attribute)
  }
  return missing
}

async function requireBase(connection: LdapConnection, base: string): Promise<void> {
  await searchSome(connection, {
    base,
    scope: 'base',
    filter: new PresenceFilter({ attribute: 'objectClass' }),
    filterText: '(objectClass=*)',
    attributes: [],
    pageSize: undefined,
  })
}
