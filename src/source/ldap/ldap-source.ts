import type { Coverage, SourceSnapshot } from '../../core/entries/snapshot.ts'
import type { UserTable } from '../../core/entries/user-table.ts'
import type { Log } from '../../base/log/log.ts'
import { Collector } from '../collect.ts'
import type { Source } from '../source.ts'
import { checkOptions, type CompiledOptions, compileOptions } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { lookupIn } from './entry.ts'
import { find } from './find/find.ts'
import { ABOUT_CATALOGS, globalCatalogOf, requireInCatalog } from './global-catalog.ts'
import type { LdapImage } from './image.ts'
import { idsAt, readIds } from './recheck.ts'
import { lookAtLosses } from './losses/look-at-losses.ts'
import type { LdapSourceOptions } from './options.ts'
import { readWithEvidence } from './position/position.ts'
import { probe } from './probe.ts'
import { readImage } from './read-image.ts'
import type { Reading } from './read-place.ts'
import { snapshotOf } from './snapshot-of.ts'
import type { Logins } from './connection/logins.ts'
import { createServers } from './connection/servers.ts'
import type { OnResult } from './connection/wire.ts'
import { PROFILES, type VendorProfile, vendorOf } from './vendor.ts'
import { inTurns } from '../../base/turns.ts'

/** By an operator. */
const ASKED = { isAsked: true }

export interface LdapShared {
  /** For the same bind accounts. */
  readonly logins?: Logins
  readonly onResult?: OnResult
}

/**
 * An LDAP server as a source. Every call opens one connection and closes it; a read whose connection is lost begins
 * again with the next server. Throws `config-invalid`, naming the key, when the options cannot be used; options that
 * depend on the vendor are checked with the first connection.
 */
export function createLdapSource(options: LdapSourceOptions, log: Log, shared: LdapShared = {}): Source {
  const servers = createServers(checkOptions(options), options, { log, ...shared })
  const images = new WeakMap<SourceSnapshot, LdapImage>()
  // The value of `now()` in filters: the same from a read to its last recheck.
  let now = new Date()
  const compileFor = (connection: LdapConnection) =>
    compileOptions(options, profileOf(connection, options), now)
  return {
    read: (signal, how) => {
      now = new Date()
      return servers.withOne(
        async (connection) => {
          const compiled = compileFor(connection)
          const read = () => readAll(connection, compiled, log, how?.table)
          const [{ snapshot, image }, server] = await readWithEvidence(connection, compiled, read)
          const proved = { ...snapshot, server }
          images.set(proved, image)
          return proved
        },
        signal,
        how,
      )
    },
    async readIds(kind, ids, signal) {
      if (ids.length === 0) return new Map()
      using connection = await servers.openAgain(signal)
      return await readIds(connection, compileFor(connection), kind, ids)
    },
    async lookAtLosses(snapshot, lost, signal) {
      const image = images.get(snapshot)
      if (image === undefined) throw new Error('the snapshot is not of this source')
      if (lost.size === 0) return new Map()
      using connection = await servers.openAgain(signal)
      const compiled = compileFor(connection)
      return await lookAtLosses(readingOf(connection, compiled, log), compiled, { image, snapshot, lost })
    },
    async idsAt(dns, signal) {
      using connection = await servers.openAgain(signal)
      return await idsAt(connection, compileFor(connection), dns)
    },
    async probe(signal) {
      using connection = await servers.open(signal, ASKED)
      return await probe(connection, compileFor(connection), options)
    },
    async find(wanted, signal) {
      using connection = await servers.open(signal, ASKED)
      const compiled = compileFor(connection)
      const collector = new Collector(coversOf(compiled))
      return await find(connection, compiled, wanted, collector)
    },
  }
}

/** A server without a readable root DSE is of an unknown vendor. */
function profileOf({ rootDse }: LdapConnection, { vendor }: LdapSourceOptions): VendorProfile {
  if (vendor !== undefined) return PROFILES[vendor]
  return rootDse === undefined ? PROFILES.generic : PROFILES[vendorOf(lookupIn(rootDse))]
}

async function readAll(
  connection: LdapConnection,
  compiled: CompiledOptions,
  log: Log,
  table: UserTable | undefined,
): Promise<{ readonly snapshot: SourceSnapshot; readonly image: LdapImage }> {
  const { url } = connection.endpoint
  log.debug({ url, vendor: compiled.profile.vendor }, 'reading the source')
  const reading = readingOf(connection, compiled, log)
  if (reading.catalog !== undefined) {
    log.warn({ url }, ABOUT_CATALOGS)
    await requireInCatalog(connection, compiled)
  }
  const image = await readImage(reading, compiled, new Collector(coversOf(compiled), table))
  return { snapshot: await inTurns(snapshotOf(image, compiled)), image }
}

function coversOf({ groups }: Pick<CompiledOptions, 'groups'>): Coverage {
  return { groups: groups !== undefined, members: groups?.membersFrom !== undefined }
}

function readingOf(connection: LdapConnection, compiled: CompiledOptions, log: Log): Reading {
  const { pageSize, referrals } = compiled
  const catalog = globalCatalogOf(connection, compiled)
  return { connection, pageSize, referrals, log, catalog, referred: new Set(), filled: new Set() }
}
