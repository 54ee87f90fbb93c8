import type { Log } from '../../../base/log/log.ts'
import type { Lookup } from '../../mapping.ts'
import { parseEndpoints } from '../connection/endpoint.ts'
import { lookAtCertificate, type ServerCertificate } from '../connection/certificate.ts'
import { createServers, type OpenServer } from '../connection/servers.ts'
import { isUntrusted } from '../connection/tls-problem.ts'
import { lookupIn } from '../entry.ts'
import type { LdapSourceOptions, Vendor } from '../options.ts'
import { vendorOf } from '../vendor.ts'

export type ServerOptions = Pick<LdapSourceOptions, 'url' | 'tls' | 'bind' | 'timeouts'>

export interface ServerFacts {
  readonly url: string
  readonly vendor: Vendor
  /** Name and version; empty where the server does not tell. */
  readonly calledItself: string
  /** The trees that may hold users; empty where they are hidden from this account. */
  readonly contexts: readonly string[]
}

/** A usable server, or the certificate that the operator has to check first. */
export type ServerLook = { readonly facts: ServerFacts } | { readonly untrusted: ServerCertificate }

/** Rejects like `Source.probe`. */
export async function lookAtServer(
  options: ServerOptions,
  log: Log,
  signal: AbortSignal,
): Promise<ServerLook> {
  try {
    return { facts: await withServer(options, log, signal, (server) => Promise.resolve(factsOf(server))) }
  } catch (error) {
    if (options.tls.ca !== undefined || !(error instanceof Error) || !isUntrusted(error.cause)) throw error
    const [endpoint] = parseEndpoints(options)
    return { untrusted: await lookAtCertificate(endpoint, options.timeouts, signal) }
  }
}

export function withServer<T>(
  options: ServerOptions,
  log: Log,
  signal: AbortSignal,
  use: (server: OpenServer) => Promise<T>,
): Promise<T> {
  return createServers(parseEndpoints(options), options, { log }).withOne(use, signal, { isAsked: true })
}

function factsOf({ rootDse, endpoint }: OpenServer): ServerFacts {
  const root: Lookup = rootDse === undefined ? () => [] : lookupIn(rootDse)
  return {
    url: endpoint.url,
    vendor: rootDse === undefined ? 'generic' : vendorOf(root),
    calledItself: [...root('vendorName'), ...root('vendorVersion')].join(' '),
    contexts: contextsOf(root),
  }
}

/** Trees of the server itself: its configuration, schema, statistics, change log and certificates. */
const OF_SERVER = /^(cn=(config|schema|monitor|changelog|accesslog|subschema)|o=(netscaperoot|ipaca))(,|$)/i
const OF_DOMAIN = /^(cn=configuration|cn=schema,cn=configuration|dc=domaindnszones|dc=forestdnszones),dc=/i

/** Active Directory has a tree for each purpose, and names that of the users. */
function contextsOf(root: Lookup): readonly string[] {
  const usual = root('defaultNamingContext').filter((dn) => dn !== '')
  if (usual.length > 0) return usual
  return root('namingContexts').filter((dn) => dn !== '' && !OF_SERVER.test(dn) && !OF_DOMAIN.test(dn))
}
