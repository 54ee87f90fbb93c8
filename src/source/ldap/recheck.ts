import { PresenceFilter } from 'ldapts'
import type { Kind } from '../../core/entries/entry.ts'
import type { EntryNow, GroupNow, Recheck, Sighting } from '../../core/entries/recheck.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { CompiledOptions, GroupPlace, UserPlace } from './compile.ts'
import { membersDemanded } from './demanded.ts'
import { dnKey } from './dn.ts'
import { type LdapEntry, lookupIn } from './entry.ts'
import { anyOf, bothOf } from './filter.ts'
import { recordsOf } from './global-catalog.ts'
import { type Chain, createChain } from './membership/in-chain.ts'
import { isMemberUid, membersIn } from './membership/members.ts'
import { MEMBER_OF } from './membership/names.ts'
import { isPartial, readWhole } from './range.ts'
import { type Reading, readPlace } from './read-place.ts'
import type { Records } from './records.ts'
import { findEntry, searchSome, tryPage } from './search.ts'
import { valueBytes } from './values.ts'

const IDS_PER_SEARCH = 100

/** How many entries are read to find one with a usable id. */
const SAMPLE = 20

type Place = UserPlace | GroupPlace
type Found = ReadonlyMap<string, readonly LdapEntry[]>

/** Reads entries again after a read, whatever the filter of the sync. Throws like `readPlace`. */
export class Rereading {
  readonly #reading: Reading
  readonly #compiled: CompiledOptions
  readonly #records: Records
  readonly #primaryNames: readonly string[]

  /** @param primaryNames what users called their primary groups in the read */
  constructor(reading: Reading, compiled: CompiledOptions, primaryNames: readonly string[]) {
    this.#reading = reading
    this.#compiled = compiled
    this.#records = recordsOf(reading, compiled)
    this.#primaryNames = primaryNames
  }

  /** See `Source.readIds`. A base that does not exist is an error, and never "absent". */
  async readIds(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Recheck>> {
    const { users, groups } = this.#compiled
    const place = kind === 'user' ? users : groups
    // Without groups in the options the source does not cover them, so it proves none of them absent.
    if (place === undefined) return new Map(ids.map((id) => [id, { state: 'present' }]))
    await this.#requireLookup(place)
    const chain = kind === 'group' && groups?.nested === 'in-chain' ? await this.#chain(groups) : undefined
    const answer = new Map<string, Recheck>(ids.map((id) => [id, { state: 'absent' }]))
    for (let at = 0; at < ids.length; at += IDS_PER_SEARCH) {
      const some = ids.slice(at, at + IDS_PER_SEARCH)
      const found = kind === 'user' ? await this.#readUsers(some) : await this.#readGroups(place, some, chain)
      for (const [id, recheck] of found) answer.set(id, recheck)
    }
    return answer
  }

  /** See `Source.readDns`. */
  async readDns(dns: readonly string[]): Promise<ReadonlyMap<string, EntryNow>> {
    const { connection } = this.#reading
    const { users, groups } = this.#compiled
    const ofGroups = groups === undefined ? [] : this.#attributesOfGroups(groups)
    const attributes = [...new Set([users.map.id, ...this.#attributesOfUsers(), ...ofGroups])]
    const entries: [dn: string, entry: LdapEntry][] = []
    for (const dn of dns) {
      const entry = await findEntry(connection, dn, attributes)
      if (entry === undefined) continue
      entries.push([dn, isPartial(entry) ? await readWhole(connection, dn, attributes) : entry])
    }
    const factsOf = await this.#factsOf(entries.map(([, entry]) => entry))
    return new Map(entries.map(([dn, entry]) => [dn, this.#now(entry, factsOf(entry))]))
  }

  async #readUsers(ids: readonly string[]): Promise<ReadonlyMap<string, Recheck>> {
    const { users } = this.#compiled
    const found = await this.#find(users, ids, this.#attributesOfUsers())
    const within = await this.#find(users, [...found.keys()], [], users)
    const rule = users.disabled?.action === 'delete' ? users.disabled : undefined
    const disabled = rule && (await this.#find(users, [...within.keys()], [], rule))
    const stateOf = (id: string, entries: readonly LdapEntry[]): Sighting => {
      const inFilter = within.get(id)
      if (hidesClass(users, entries)) return 'present'
      if (inFilter === undefined) return 'out-of-scope'
      return areAllIn(inFilter, disabled?.get(id)) ? 'disabled' : 'present'
    }
    return new Map(
      [...found].map(([id, entries]) => [
        id,
        { state: stateOf(id, entries), entries: entries.map((entry) => this.#now(entry)) },
      ]),
    )
  }

  async #readGroups(
    groups: Place,
    ids: readonly string[],
    chain: ((group: string) => Promise<Chain>) | undefined,
  ): Promise<ReadonlyMap<string, Recheck>> {
    const found = await this.#find(groups, ids, [])
    const within = await this.#find(groups, [...found.keys()], this.#attributesOfGroups(groups), groups)
    const factsOf = await this.#factsOf([...within.values()].flat())
    const rechecks = new Map<string, Recheck>()
    for (const [id, entries] of found) {
      const isPresent = hidesClass(groups, entries) || within.has(id)
      const now: EntryNow[] = []
      for (const entry of within.get(id) ?? [])
        now.push(this.#now(entry, { ...factsOf(entry), ...(await chain?.(entry.dn)) }))
      rechecks.set(id, { state: isPresent ? 'present' : 'out-of-scope', entries: now })
    }
    return rechecks
  }

  #chain(groups: GroupPlace): ReturnType<typeof createChain> {
    const { primary } = this.#records
    return createChain(this.#reading, this.#compiled.users, groups, primary, this.#primaryNames)
  }

  /**
   * A server that cannot search by this attribute (no equality rule, no search right) answers "no entry" with success,
   * and all users would seem gone. So an existing entry must be found by its id first.
   */
  async #requireLookup(place: Place): Promise<void> {
    const { connection } = this.#reading
    const { pageSize } = this.#compiled
    const attribute = place.map.id
    for (const base of place.bases) {
      const page = { ...place, base, attributes: [attribute], pageSize: pageSize && SAMPLE }
      const sample = await searchSome(connection, page)
      const ids = sample.map((entry) => lookupIn(entry)(attribute)).find((values) => values.length === 1)
      if (ids === undefined || (await this.#find(place, ids, [])).size > 0) continue
      const what = `${connection.endpoint.url} does not find the entry with ${attribute} "${ids[0]}" by this value`
      throw new DirsyncdError(
        'source-incomplete',
        `${what} although it is there, so nothing can be proved absent`,
      )
    }
  }

  /** The existing ids with their entries. Byte for byte: the server's own comparison may ignore case. */
  async #find(
    place: Place,
    ids: readonly string[],
    attributes: readonly string[],
    within?: Pick<Place, 'filter' | 'filterText'>,
  ): Promise<Found> {
    const attribute = place.map.id
    const values = ids.flatMap((id) => valueBytes(attribute, id))
    const found = new Map<string, LdapEntry[]>()
    if (values.length === 0) return found
    const byId = anyOf(attribute, values)
    const filter = within === undefined ? byId : bothOf(within.filter, byId)
    const where = within === undefined ? 'anywhere' : `within the filter ${within.filterText}`
    const filterText = `for ${ids.length} values of ${attribute} ${where}`
    const wanted = new Set(ids)
    const asked = [...new Set([attribute, 'objectClass', ...attributes])]
    await readPlace(this.#reading, { ...place, filter, filterText }, asked, (entry) => {
      for (const id of lookupIn(entry)(attribute)) {
        const entries = found.get(id)
        if (entries !== undefined) entries.push(entry)
        else if (wanted.has(id)) found.set(id, [entry])
      }
    })
    return found
  }

  /** What groups need to know of users. */
  #attributesOfUsers(): readonly string[] {
    return this.#compiled.groups === undefined ? [] : [...this.#records.userAttributes, MEMBER_OF]
  }

  #attributesOfGroups({ map }: Place): readonly string[] {
    return [map.id, 'objectClass', ...this.#records.groupAttributes, ...this.#records.listed]
  }

  #now(entry: LdapEntry, facts?: Facts): EntryNow {
    const { users, groups } = this.#compiled
    const lookup = lookupIn(entry)
    return {
      dn: entry.dn,
      normalDn: dnKey(entry.dn),
      ids: { user: lookup(users.map.id), group: groups === undefined ? [] : lookup(groups.map.id) },
      uids: this.#records.listed.some(isMemberUid) ? lookup('uid') : [],
      memberOf: lookup(MEMBER_OF).map(dnKey),
      primaryGroup: this.#records.primary.nameIn(lookup),
      group: facts && this.#groupNow(entry, facts),
    }
  }

  #groupNow(entry: LdapEntry, { ids = [], primaryNames = [], ...facts }: Facts): GroupNow {
    const lookup = lookupIn(entry)
    const lists = this.#records.listed.map((attribute) => ({
      attribute,
      isShown: lookup(attribute).length > 0,
      isOfNames: isMemberUid(attribute),
      members: membersIn(attribute, lookup),
    }))
    return {
      ...facts,
      lists,
      primaryNames: [...this.#records.primary.namesOf(lookup), ...primaryNames],
      chained: ids,
      whyUnknown: this.#records.whyUnknown(entry, false),
    }
  }

  /** What the server tells of groups that show no value of some list. */
  async #factsOf(entries: readonly LdapEntry[]): Promise<(entry: LdapEntry) => Facts> {
    const { groups, profile } = this.#compiled
    if (groups === undefined) return () => ({ demanded: undefined, isMemberOfShown: false })
    const silentIn = (entry: LdapEntry): readonly string[] =>
      this.#records.listed.filter((attribute) => lookupIn(entry)(attribute).length === 0)
    const shapeOf = (entry: LdapEntry) => ({
      silent: silentIn(entry),
      classes: lookupIn(entry)('objectClass'),
    })
    const silent = entries.map(shapeOf).filter((shape) => shape.silent.length > 0)
    const demanded = await membersDemanded(this.#reading.connection, { groups, profile }, silent)
    const isAsked = silent.length > 0 || (entries.length > 0 && this.#records.listed.length === 0)
    const isMemberOfShown = isAsked && (await this.#isMemberOfShown())
    return (entry) => ({ demanded: demanded(shapeOf(entry)), isMemberOfShown })
  }

  /** Whether the bind account can read `memberOf` of any user. */
  async #isMemberOfShown(): Promise<boolean> {
    const { users, pageSize } = this.#compiled
    if (pageSize === undefined) return false
    const filter = bothOf(users.filter, new PresenceFilter({ attribute: MEMBER_OF }))
    const filterText = `(&${users.filterText}(${MEMBER_OF}=*))`
    let isShown = false
    for (const base of users.bases) {
      const search = { ...users, base, filter, filterText, attributes: [MEMBER_OF], pageSize: 1 }
      await tryPage(this.#reading.connection, search, (entry) => {
        isShown ||= lookupIn(entry)(MEMBER_OF).length > 0
      })
    }
    return isShown
  }
}

type Facts = Pick<GroupNow, 'demanded' | 'isMemberOfShown'> & Partial<Chain>

/** A returning user may have a disabled account and another one with the same id. */
function areAllIn(entries: readonly LdapEntry[], others: readonly LdapEntry[] = []): boolean {
  const dns = new Set(others.map(({ dn }) => dn))
  return entries.every(({ dn }) => dns.has(dn))
}

/**
 * Every entry has an objectClass (RFC 4512, 2.4). Where it is hidden, other attributes of the filter may be hidden too:
 * a filter that asks for it and does not match then proves nothing.
 */
function hidesClass({ filterText }: Place, entries: readonly LdapEntry[]): boolean {
  return (
    /objectclass/i.test(filterText) && entries.some((entry) => lookupIn(entry)('objectClass').length === 0)
  )
}
