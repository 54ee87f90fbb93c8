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
import type { LdapSourceOptions } from './options.ts'
import { readWithEvidence } from './position/position.ts'
import { probe } from './probe.ts'
import { readImage } from './read-image.ts'
import type { Reading } from './read-place.ts'
import { Rereading } from './recheck.ts'
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
  let last: LastRead = { now: new Date(), primaryNames: [], referred: new Set() }
  const compileFor = (connection: LdapConnection, now = new Date()) =>
    compileOptions(options, profileOf(connection, options), now)
  const reread = (connection: LdapConnection) => {
    const compiled = compileFor(connection, last.now)
    const reading = { ...readingOf(connection, compiled, log), referred: last.referred }
    return new Rereading(reading, compiled, last.primaryNames)
  }
  return {
    read: (signal, how) => {
      const now = new Date()
      return servers.withOne(
        async (connection) => {
          const compiled = compileFor(connection, now)
          const read = () => readAll(connection, compiled, log, how?.table)
          const [{ snapshot, ...facts }, server] = await readWithEvidence(connection, compiled, read)
          last = { now, ...facts }
          return { ...snapshot, server }
        },
        signal,
        how,
      )
    },
    async readIds(kind, ids, signal) {
      if (ids.length === 0) return new Map()
      using connection = await servers.openAgain(signal)
      return await reread(connection).readIds(kind, ids)
    },
    async readDns(dns, signal) {
      using connection = await servers.openAgain(signal)
      return await reread(connection).readDns(dns)
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

/** What holds from a read to its last recheck. */
interface LastRead extends Pick<Reading, 'referred'> {
  /** In filters. */
  readonly now: Date
  /** What users call their primary groups. */
  readonly primaryNames: readonly string[]
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
): Promise<{ readonly snapshot: SourceSnapshot } & Omit<LastRead, 'now'>> {
  const { url } = connection.endpoint
  log.debug({ url, vendor: compiled.profile.vendor }, 'reading the source')
  const reading = readingOf(connection, compiled, log)
  if (reading.catalog !== undefined) {
    log.warn({ url }, ABOUT_CATALOGS)
    await requireInCatalog(connection, compiled)
  }
  const image = await readImage(reading, compiled, new Collector(coversOf(compiled), table))
  const snapshot = await inTurns(snapshotOf(image, compiled))
  return { snapshot, primaryNames: image.users.primaryNames(), referred: reading.referred }
}

function coversOf({ groups }: Pick<CompiledOptions, 'groups'>): Coverage {
  return { groups: groups !== undefined, members: groups?.membersFrom !== undefined }
}

function readingOf(connection: LdapConnection, compiled: CompiledOptions, log: Log): Reading {
  const { pageSize, referrals } = compiled
  const catalog = globalCatalogOf(connection, compiled)
  return { connection, pageSize, referrals, log, catalog, referred: new Set(), filled: new Set() }
}
