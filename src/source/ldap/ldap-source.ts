import type { Log } from '../../log.ts'
import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { type Collector, createCollector } from '../collect.ts'
import type { GroupMapping, UserMapping } from '../mapping.ts'
import type { Source } from '../source.ts'
import { type CompiledOptions, compileOptions, type Place } from './compile.ts'
import type { LdapConnection } from './connection.ts'
import { lookAgain } from './look-again.ts'
import { createMemberIndex, type MemberIndex } from './members.ts'
import type { LdapEntry } from './message.ts'
import type { LdapSourceOptions } from './options.ts'
import { probe } from './probe.ts'
import { requireWhole } from './range.ts'
import { searchAll } from './search.ts'
import { createServers } from './servers.ts'
import { lookupIn } from './values.ts'

/**
 * An LDAP server as a source. Every call opens one connection, uses it from the first request to the last and closes
 * it. Throws `config-invalid`, naming the key, when the options cannot be used.
 */
export function createLdapSource(options: LdapSourceOptions, log: Log): Source {
  const compiled = compileOptions(options)
  const servers = createServers(compiled.endpoints, options, log)
  return {
    async read(signal) {
      using connection = await servers.open(signal)
      return await readAll(connection, compiled, options.pageSize, log)
    },
    async lookAgain(kind, ids, signal) {
      const place = kind === 'user' ? compiled.users : compiled.groups
      if (ids.length === 0) return new Map()
      // Without groups in the options the source says nothing about them, and so proves none of them absent.
      if (place === undefined) return new Map(ids.map((id) => [id, 'present']))
      using connection = await servers.openAgain(signal)
      return await lookAgain(connection, place, ids, options.pageSize)
    },
    async probe(signal) {
      using connection = await servers.open(signal)
      return await probe(connection, compiled, options.bind?.dn)
    },
  }
}

/** Users first: they are what the members of groups are looked up in. */
async function readAll(
  connection: LdapConnection,
  { users, groups }: CompiledOptions,
  pageSize: number,
  log: Log,
): Promise<SourceSnapshot> {
  const covers = { groups: groups !== undefined, members: groups?.map.members !== undefined }
  const collector = createCollector(covers)
  const members = createMemberIndex(groups?.map.members)
  await readKind(connection, users, pageSize, log, members.attributes, (entry) => {
    takeUser(entry, users.map, collector, members)
  })
  if (groups !== undefined) {
    await readKind(connection, groups, pageSize, log, [], (entry) =>
      takeGroup(entry, groups.map, collector, members),
    )
  }
  return collector.snapshot()
}

async function readKind(
  connection: LdapConnection,
  place: Place<UserMapping | GroupMapping>,
  pageSize: number,
  log: Log,
  extra: readonly string[],
  onEntry: (entry: LdapEntry) => void,
): Promise<void> {
  const attributes = [...new Set([...place.map.attributes, ...extra])]
  const unseen = new Set(place.map.attributes)
  const totals = await searchAll(connection, { ...place, attributes, pageSize }, (entry) => {
    requireWhole(entry, connection.endpoint)
    for (const name of unseen) if (entry.attributes.has(name.toLowerCase())) unseen.delete(name)
    onEntry(entry)
  })
  const scope = { base: place.base, filter: place.filterText }
  log.debug({ ...scope, ...totals }, 'read a part of the source')
  if (totals.references > 0)
    log.warn({ ...scope, references: totals.references }, 'search references not followed')
  if (totals.entries > 0 && unseen.size > 0) {
    log.warn(
      { ...scope, attributes: [...unseen] },
      'mapped attributes that no entry has, or that the bind user cannot see',
    )
  }
}

function takeUser(entry: LdapEntry, map: UserMapping, collector: Collector, members: MemberIndex): void {
  const lookup = lookupIn(entry)
  const id = collector.addUser({
    ids: lookup(map.id),
    idName: map.id,
    from: entry.dn,
    email: map.email.valueOf(lookup),
    name: map.name.valueOf(lookup),
    employeeId: map.employeeId.valueOf(lookup),
  })
  if (id !== undefined) members.addUser(id, entry.dn, lookup('uid'))
}

function takeGroup(entry: LdapEntry, map: GroupMapping, collector: Collector, members: MemberIndex): void {
  const lookup = lookupIn(entry)
  const resolved = members.resolve(map.members === undefined ? [] : lookup(map.members))
  collector.addGroup({
    ids: lookup(map.id),
    idName: map.id,
    from: entry.dn,
    name: map.name.valueOf(lookup),
    members: resolved.ids,
    strangers: resolved.strangers,
  })
}
