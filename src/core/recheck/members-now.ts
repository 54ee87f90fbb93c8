import {
  type GroupLists,
  type ListedGroup,
  type MemberList,
  type MemberNames,
  TOLD,
  byName,
  listOf,
} from '../entries/groups.ts'
import type { Kind } from '../entries/entry.ts'
import type { EntryNow, GroupNow, Recheck } from '../entries/recheck.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'
import { listAt } from '../../base/lists.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'

/** The most DNs unknown to the first read that are looked up in one run. */
const MOST_UNKNOWN = 1000

/** The first read, with the lists of its groups. */
interface Before extends Pick<SourceSnapshot, 'groups' | 'seen'> {
  readonly lists: GroupLists
  readonly names: MemberNames
}

export type GroupEntryNow = EntryNow & { readonly group: GroupNow }

export interface GroupsNow {
  readonly all: GroupLists['groups']
  readonly entries: ReadonlyMap<ListedGroup, GroupEntryNow>
}

type ResolvedList = GroupNow['lists'][number] & {
  /** Users of the first read, and the other members. */
  readonly ids: readonly string[]
  readonly others: readonly string[]
}

/**
 * What reread groups list. DNs that the first read did not have are looked up, because users may have got them
 * meanwhile, and nested groups are, where their members count: `unknown` names them, and `take` gets what is there.
 */
export class MembersNow {
  readonly before: Before
  readonly #people: ReadonlyMap<string, Recheck>
  readonly #peopleDns: ReadonlySet<string>
  /** The lost users that are not where the first read had them. */
  readonly #elsewhere: ReadonlySet<string>
  readonly #byId: ReadonlyMap<string, ListedGroup>
  /** All reread groups by normal DN, and what they list. */
  readonly #groups = new Map<string, GroupEntryNow>()
  readonly #lists = new Map<string, readonly ResolvedList[]>()
  /** The ids of users by the names that they have now, in lower case; `null` for a name of several. */
  readonly #names = new Map<string, string | null>()
  /** The users who now have the DN of another user of the first read, by the other one's id. */
  readonly #heirs = new Map<string, string>()
  /** What is at DNs that were looked up. */
  readonly #shown = new Map<string, EntryNow | undefined>()
  #looks = 0
  #isFull = false

  constructor(before: Before, { user, group }: Readonly<Record<Kind, ReadonlyMap<string, Recheck>>>) {
    this.before = before
    this.#people = user
    this.#peopleDns = new Set(entriesOf(user).map(({ normalDn }) => normalDn))
    const isElsewhere = (id: string, { state, entries = [] }: Recheck): boolean =>
      state === 'absent' || entries.some(({ normalDn }) => before.names.idOf(normalDn) !== id)
    this.#elsewhere = new Set([...user].filter((each) => isElsewhere(...each)).map(([id]) => id))
    this.#byId = new Map([...before.lists.groups.values()].map((each) => [each.id, each]))
    for (const [id, { state, entries = [] }] of user)
      if (state !== 'disabled') for (const entry of entries) this.#addUser(id, entry)
    for (const entry of entriesOf(group)) this.#addGroup(entry)
  }

  /** The DNs to look up next; none where all is known. */
  *unknown(): Steps<readonly string[]> {
    for (const [dn, { group }] of this.#groups)
      if (!this.#lists.has(dn)) this.#lists.set(dn, yield* this.#resolve(group))
    const open = new Set<string>()
    if (this.#climbs)
      yield* forEachInSteps(entriesOf(this.#people), ({ memberOf }) => {
        for (const dn of memberOf) if (this.#isOpen(dn)) open.add(dn)
      })
    for (const group of this.#groups.values()) {
      yield
      for (const dn of this.#openIn(group)) open.add(dn)
    }
    const next = [...open].filter((dn) => !this.#shown.has(dn))
    const isKnown = (dn: string): boolean => this.before.lists.groups.has(dn)
    const unknown = next.filter((dn) => !isKnown(dn)).slice(0, MOST_UNKNOWN - this.#looks)
    this.#looks += unknown.length
    const asked = [...next.filter(isKnown), ...unknown]
    this.#isFull ||= asked.length < next.length
    return asked
  }

  /** @param shown the entries at DNs that were asked for, without those that the server does not show */
  take(asked: readonly string[], shown: ReadonlyMap<string, EntryNow>): void {
    const { lists, seen } = this.before
    for (const dn of asked) {
      const entry = shown.get(dn)
      this.#shown.set(dn, entry)
      if (entry === undefined) continue
      const [id = ''] = entry.ids.user
      const isKnown = lists.groups.has(dn)
      // Where users name their groups, what they name is a group.
      const isGroup = lists.read.length === 0 || entry.group?.lists.some(({ isShown }) => isShown) === true
      if (!isKnown && seen.user.has(id)) this.#addUser(id, entry)
      else if (lists.isFlat && (isKnown || isGroup)) this.#addGroup(entry)
    }
  }

  /** All groups as they are now; those of the first read stay where nothing was reread. */
  *listed(): Steps<GroupsNow> {
    const { groups, isFlat } = this.before.lists
    const reread = [...this.#groups]
    const ids = new Set(reread.flatMap(([, entry]) => entry.ids.group))
    const old = yield* filterInSteps(
      isFlat ? [...groups] : [],
      ([dn, { id }]) => !this.#groups.has(dn) && !ids.has(id),
    )
    const known = new Set(isFlat ? [...old, ...reread].map(([dn]) => dn) : [])
    const children = yield* byName(this.#climbs ? [...old, ...reread] : [], ([, { memberOf }]) => memberOf)
    const told = yield* this.#toldByPeople()
    const entries = new Map<ListedGroup, GroupEntryNow>()
    const all = new Map(old)
    for (const [normalDn, entry] of reread) {
      yield
      const [id = ''] = entry.ids.group
      const within = (children.get(normalDn) ?? []).map(([dn]) => dn)
      const lists = [...(yield* this.#listsOf(normalDn, known)), ...this.#toldOf(entry, within, told)]
      const group = { key: id === '' ? normalDn : id, id, dn: entry.dn, lists, memberOf: entry.memberOf }
      all.set(normalDn, group)
      entries.set(group, entry)
    }
    return { all, entries }
  }

  /** Why the list of a reread group is not understood: too many unresolved DNs, or one that the server does not show. */
  whyUnresolved(
    group: GroupEntryNow,
    lost: readonly string[],
  ): 'too-many' | { readonly dn: string } | undefined {
    if (this.#isFull && this.#climbs) return 'too-many'
    const { groups } = this.before.lists
    const strangers = this.#unresolvedBefore(group)
    // A group may list a user that was renamed twice during the read by its second name.
    const isMoving = lost.some((id) => this.#elsewhere.has(id) && this.#people.get(id)?.state !== 'absent')
    for (const dn of this.#openIn(group)) {
      if (!this.#shown.has(dn)) return 'too-many'
      const isNew = groups.has(dn) || !strangers.has(dn)
      if ((isNew || isMoving) && this.#shown.get(dn) === undefined) return { dn: groups.get(dn)?.dn ?? dn }
    }
    return undefined
  }

  get isMemberOfShown(): boolean {
    const isShown = entriesOf(this.#people).some(({ memberOf }) => memberOf.length > 0)
    return isShown || [...this.#groups.values()].some(({ group }) => group.isMemberOfShown)
  }

  /** Whether a lost user names the group as one that it is in. */
  isNaming(user: string, group: string): boolean {
    return this.#people.get(user)?.entries?.some(({ memberOf }) => memberOf.includes(group)) === true
  }

  /** Where groups list uids, a user without one may be any of them. */
  isNameless(user: string): boolean {
    const { state, entries = [] } = this.#people.get(user) ?? {}
    return state !== 'disabled' && entries.some(({ uids }) => uids.length === 0)
  }

  /** Whether nested groups are found by the groups that each names as its parents. */
  get #climbs(): boolean {
    return this.before.lists.isFlat && this.before.lists.isByUsers
  }

  #addUser(id: string, { normalDn, uids }: EntryNow): void {
    for (const name of [normalDn, ...uids.map((uid) => uid.toLowerCase())]) {
      const other = this.#names.get(name)
      this.#names.set(name, other === undefined || other === id ? id : null)
    }
    const other = this.before.names.idOf(normalDn)
    if (typeof other === 'string' && other !== id) this.#heirs.set(other, id)
  }

  #addGroup(entry: EntryNow): void {
    const { group, normalDn } = entry
    if (group !== undefined && !this.#groups.has(normalDn)) this.#groups.set(normalDn, { ...entry, group })
  }

  *#resolve({ lists }: GroupNow): Steps<readonly ResolvedList[]> {
    const resolved: ResolvedList[] = []
    for (const list of lists) {
      const [ids, others]: [string[], string[]] = [[], []]
      yield* forEachInSteps(list.members, (member) => {
        const id = this.before.names.idOf(member)
        if (typeof id === 'string') ids.push(id)
        else others.push(member)
      })
      resolved.push({ ...list, ids, others })
    }
    return resolved
  }

  /** The DNs that a group names, and that decide who is in it. */
  #openIn(group: GroupEntryNow): readonly string[] {
    const strangers = this.#unresolvedBefore(group)
    const others = (this.#lists.get(group.normalDn) ?? []).flatMap((list) => list.others)
    const dns = others.map((name) => this.before.names.dnOf(name)).filter((dn) => dn !== undefined)
    return [...dns, ...(this.#climbs ? group.memberOf : [])].filter((dn) => this.#isOpen(dn, strangers))
  }

  /** Strangers of the first read count only when a lost user has left or was renamed: the user may have had such a DN. */
  #isOpen(dn: string, strangers: ReadonlySet<string> = new Set()): boolean {
    if (this.#groups.has(dn) || this.#peopleDns.has(dn)) return false
    if (this.before.lists.groups.has(dn)) return this.before.lists.isFlat
    return this.#elsewhere.size > 0 || !strangers.has(dn)
  }

  #unresolvedBefore(group: GroupEntryNow): ReadonlySet<string> {
    const { lists = [], memberOf = [] } = this.#beforeOf(group) ?? {}
    return new Set([...lists.flatMap(({ nested, unresolved }) => [...nested, ...unresolved]), ...memberOf])
  }

  #beforeOf({
    normalDn,
    ids: {
      group: [id = ''],
    },
  }: EntryNow): ListedGroup | undefined {
    return (id === '' ? undefined : this.#byId.get(id)) ?? this.before.lists.groups.get(normalDn)
  }

  *#listsOf(group: string, known: ReadonlySet<string>): Steps<readonly MemberList[]> {
    const lists: MemberList[] = []
    for (const { attribute, isOfNames, ids, others } of this.#lists.get(group) ?? []) {
      const users: string[] = []
      yield* forEachInSteps(ids, (id) => users.push(isOfNames ? id : (this.#heirs.get(id) ?? id)))
      const dns: string[] = []
      yield* forEachInSteps(others, (name) => {
        const dn = this.before.names.dnOf(name)
        const id = this.#names.get(dn ?? '') ?? this.#names.get(name.toLowerCase())
        if (typeof id === 'string') users.push(id)
        else if (dn !== undefined) dns.push(dn)
      })
      lists.push(listOf(attribute, users, dns, known))
    }
    return lists
  }

  *#toldByPeople(): Steps<ToldByPeople> {
    const told = { reread: new Set<string>(), naming: new Map(), primary: new Map() }
    for (const [id, { state, entries = [] }] of this.#people) {
      yield
      if (state === 'absent') continue
      told.reread.add(id)
      for (const { memberOf, primaryGroup } of state === 'disabled' ? [] : entries) {
        for (const group of this.before.lists.isByUsers ? memberOf : []) listAt(told.naming, group).push(id)
        if (primaryGroup !== undefined) listAt(told.primary, primaryGroup).push(id)
      }
    }
    return told
  }

  /** The members that the group itself does not list: as before, but for the users who were read again. */
  #toldOf(
    entry: GroupEntryNow,
    nested: readonly string[],
    { reread, naming, primary }: ToldByPeople,
  ): readonly MemberList[] {
    const { lists, seen } = this.before
    const told = (attribute: string, before: ListedGroup | undefined, now: readonly string[]): MemberList => {
      const users = before?.lists.find((list) => list.attribute === attribute)?.users ?? []
      return listOf(attribute, [...users.filter((id) => !reread.has(id)), ...now])
    }
    const { normalDn, group } = entry
    const ofPrimary = group.primaryNames.flatMap((name) => primary.get(name) ?? [])
    const chained = group.chained.filter((id) => seen.user.has(id))
    const all = [
      { ...told(TOLD.byUsers, lists.groups.get(normalDn), naming.get(normalDn) ?? []), nested },
      told(TOLD.byPrimaryGroup, this.#beforeOf(entry), ofPrimary),
      listOf(TOLD.inChain, chained),
    ]
    return all.filter((list) => list.users.length + list.nested.length > 0)
  }
}

/** The rechecked users that exist, and for each group the users that name it, also as their primary group. */
interface ToldByPeople {
  readonly reread: ReadonlySet<string>
  readonly naming: ReadonlyMap<string, readonly string[]>
  readonly primary: ReadonlyMap<string, readonly string[]>
}

function entriesOf(rechecks: ReadonlyMap<string, Recheck>): readonly EntryNow[] {
  return [...rechecks.values()].flatMap(({ entries = [] }) => entries)
}
