import { PresenceFilter } from 'ldapts'
import type { ProbeLine } from '../source.ts'
import type { Lookup } from '../mapping.ts'
import type { CompiledOptions } from './compile.ts'
import type { LdapConnection } from './connection.ts'
import { searchSome } from './search.ts'
import { lookupIn } from './values.ts'

const ACTIVE_DIRECTORY = '1.2.840.113556.1.4.800'
const PAGING = '1.2.840.113556.1.4.319'
const ROOT_DSE = ['vendorName', 'vendorVersion', 'objectClass', 'supportedCapabilities', 'supportedControl']

/** What `dirsyncd check` shows: that the server can be reached, read and trusted. Throws when a base does not exist. */
export async function probe(
  connection: LdapConnection,
  { users, groups }: CompiledOptions,
  bindDn: string | undefined,
): Promise<ProbeLine[]> {
  const lines: ProbeLine[] = [
    { label: 'server', detail: connection.endpoint.url, level: 'ok' },
    { label: 'tls', detail: tlsSentence(connection), level: connection.tls === undefined ? 'warn' : 'ok' },
    bindDn === undefined
      ? { label: 'bind', detail: 'anonymous', level: 'warn' }
      : { label: 'bind', detail: `as ${bindDn}`, level: 'ok' },
  ]
  const root = await readBase(connection, '', ROOT_DSE)
  lines.push({ label: 'product', detail: productOf(root), level: 'info' })
  const paging = root('supportedControl').includes(PAGING)
  lines.push({
    label: 'paging',
    detail: paging ? 'offered' : 'not offered, or not shown to this reader',
    level: paging ? 'ok' : 'warn',
  })
  for (const [label, place] of [
    ['users', users],
    ['groups', groups],
  ] as const) {
    if (place === undefined) continue
    for (const base of place.bases) await readBase(connection, base, ['objectClass'])
    lines.push({
      label,
      detail: `${place.bases.join(' and ')} (scope ${place.scope}), filter ${place.filterText}`,
      level: 'ok',
    })
  }
  return lines
}

async function readBase(
  connection: LdapConnection,
  base: string,
  attributes: readonly string[],
): Promise<Lookup> {
  const filter = new PresenceFilter({ attribute: 'objectClass' })
  const search = {
    base,
    scope: 'base',
    filter,
    filterText: '(objectClass=*)',
    attributes,
    pageSize: 10,
  } as const
  const [entry] = await searchSome(connection, search)
  return entry === undefined ? () => [] : lookupIn(entry)
}

function tlsSentence({ endpoint, tls }: LdapConnection): string {
  if (tls === undefined) return 'none: everything crosses the network in the clear'
  const how = endpoint.encryption === 'starttls' ? ' by StartTLS' : ''
  return `${tls.protocol}${how}, certificate issued by ${tls.issuer}`
}

function productOf(root: Lookup): string {
  const vendor = [...root('vendorName'), ...root('vendorVersion')].join(' ')
  if (vendor !== '') return vendor
  if (root('supportedCapabilities').includes(ACTIVE_DIRECTORY)) return 'Active Directory'
  return root('objectClass').includes('OpenLDAProotDSE') ? 'OpenLDAP' : 'unknown: the server does not say'
}
