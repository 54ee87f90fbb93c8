import type { SourceSnapshot } from '../../directory/snapshot.ts'
import type { Log } from '../../log.ts'
import type { Source } from '../source.ts'
import { checkOptions, type CompiledOptions, compileOptions } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { explain } from './explain.ts'
import { ABOUT_CATALOGS, globalCatalogOf, requireInCatalog } from './global-catalog.ts'
import { lookAgain } from './look-again.ts'
import type { LdapSourceOptions } from './options.ts'
import { readWithEvidence } from './position/position.ts'
import { probe } from './probe.ts'
import { readImage } from './read-image.ts'
import type { Reading } from './read-place.ts'
import { snapshotOf } from './snapshot-of.ts'
import { createServers } from './connection/servers.ts'
import { lookupIn } from './values.ts'
import { PROFILES, type VendorProfile, vendorOf } from './vendor.ts'

/**
 * An LDAP server as a source. Every call opens one connection, uses it from the first request to the last and closes
 * it. Throws `config-invalid`, naming the key, when the options cannot be used; what depends on the server's vendor is
 * found out with the first connection.
 */
export function createLdapSource(options: LdapSourceOptions, log: Log): Source {
  const servers = createServers(checkOptions(options), options, log)
  const compileFor = (connection: LdapConnection) => compileOptions(options, profileOf(connection, options))
  return {
    async read(signal, preferred) {
      using connection = await servers.open(signal, preferred)
      const compiled = compileFor(connection)
      const read = () => readAll(connection, compiled, log)
      const [snapshot, server] = await readWithEvidence(connection, compiled, read)
      return { ...snapshot, server }
    },
    async lookAgain(kind, ids, signal) {
      if (ids.length === 0) return new Map()
      using connection = await servers.openAgain(signal)
      return await lookAgain(connection, compileFor(connection), kind, ids)
    },
    async probe(signal) {
      using connection = await servers.open(signal)
      return await probe(connection, compileFor(connection), options)
    },
    async explain(kind, id, signal) {
      using connection = await servers.open(signal)
      return await explain(connection, compileFor(connection), kind, id)
    },
  }
}

/** A server that does not show its root DSE is of unknown make. */
function profileOf({ rootDse }: LdapConnection, { vendor }: LdapSourceOptions): VendorProfile {
  if (vendor !== undefined) return PROFILES[vendor]
  return rootDse === undefined ? PROFILES.generic : PROFILES[vendorOf(lookupIn(rootDse))]
}

async function readAll(
  connection: LdapConnection,
  compiled: CompiledOptions,
  log: Log,
): Promise<SourceSnapshot> {
  const { pageSize, referrals, profile } = compiled
  const { url } = connection.endpoint
  log.debug({ url, vendor: profile.vendor }, 'reading the source')
  const catalog = globalCatalogOf(connection, compiled)
  if (catalog !== undefined) {
    log.warn({ url }, ABOUT_CATALOGS)
    await requireInCatalog(connection, compiled)
  }
  const reading: Reading = {
    connection,
    pageSize,
    referrals,
    log,
    catalog,
    referred: new Set(),
    filled: new Set(),
  }
  return snapshotOf(await readImage(reading, compiled), compiled)
}
