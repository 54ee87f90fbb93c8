import type { Rng } from './rng.ts'
import type {
  Fate,
  Kind,
  Listing,
  Losses,
  OtherWrite,
  Part,
  Rules,
  Seen,
  SeenGroup,
  SeenUser,
  Server,
  ServiceGroup,
  ServiceUser,
  Sighting,
  SkipCode,
  Step,
} from './story.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface Group extends Mutable<Omit<SeenGroup, 'lists'>> {
  lists: { attribute: string; users: string[]; nested: string[]; unresolved: string[] }[]
}

/** A step while a theme makes it. */
export interface Draft {
  /** Entries that the source does not show. */
  readonly hidden: Record<Kind, Set<string>>
  readonly recheck: Record<Kind, Map<string, Sighting>>
  readonly skipped: Map<string, SkipCode>
  /** Groups whose lists the source shows empty, or only those attributes of all groups. */
  readonly silentGroups: Set<string>
  readonly silentAttributes: Set<string>
  unreadable: number
  readonly losses: { renamed: Set<string>; unproved: Map<string, string[] | 'all'>; provedEmpty: Set<string> }
  readonly idsAt: Map<string, string[]>
  readonly others: OtherWrite[]
  readonly listing: {
    hiddenUsers: Set<string>
    hiddenGroups: Set<string>
    empty: Kind[]
    shared: string[]
    isMoved: boolean
  }
  readonly fates: Map<string, Fate>
  ends: Step['ends']
  mode: Step['mode']
  only: Step['only']
  readonly decides: Step['decides'][number][]
  undo: { back: number; part: Part } | undefined
  server: Server | undefined
  ahead: number
}

/** The company whose source is read: it changes from step to step. */
export class Company {
  readonly rng: Rng
  readonly users = new Map<string, Mutable<SeenUser>>()
  readonly groups = new Map<string, Group>()
  readonly rules: Mutable<Rules>
  isLdap = true
  covers = { groups: true, members: true }
  attributes: string[] = ['member']
  hasServer: boolean
  /** Makes the next id from its number. */
  idOf = (number: number): string => `u${number}`
  #ids = 0
  #groupIds = 0
  #position = 100

  constructor(rng: Rng) {
    this.rng = rng
    this.rules = rulesOf(rng)
    this.hasServer = rng.chance(0.5)
    for (let count = 6 + rng.int(16); count > 0; count -= 1) this.hire()
    for (let count = 2 + rng.int(4); count > 0; count -= 1) this.found()
  }

  ids(): string[] {
    return [...this.users.keys()]
  }

  /** Some users of the source. */
  some(count: number): string[] {
    return this.rng.some(this.ids(), count)
  }

  hire(more: Partial<SeenUser> = {}): string {
    const number = this.#ids
    this.#ids += 1
    const id = more.id ?? this.idOf(number)
    const email = this.rng.chance(0.95) ? `mail${number}@example.org` : undefined
    const container = `ou=${this.rng.int(3)},dc=x`
    this.users.set(id, {
      id,
      name: `First${number} Last${number}`,
      email,
      employeeId: undefined,
      container,
      ...more,
    })
    return id
  }

  leave(id: string): void {
    this.users.delete(id)
    for (const { lists } of this.groups.values())
      for (const list of lists) list.users = list.users.filter((user) => user !== id)
  }

  /** Founds a group with some members, or with these. */
  found(users: readonly string[] = this.some(this.rng.int(8)), isInFilter = true): Group {
    const id = `g${this.#groupIds}${isInFilter ? '' : 'x'}`
    this.#groupIds += 1
    const lists = [{ attribute: 'member', users: [...users], nested: [], unresolved: [] }]
    const group = {
      id,
      dn: `cn=${id},ou=groups,dc=x`,
      name: `Group ${id}`,
      container: 'ou=groups,dc=x',
      isInFilter,
      lists,
    }
    this.groups.set(id, group)
    return group
  }

  close(id: string): void {
    const dn = this.groups.get(id)?.dn
    this.groups.delete(id)
    for (const { lists } of this.groups.values())
      for (const list of lists) list.nested = list.nested.filter((nested) => nested !== dn)
  }

  /** As a source shows it in the beginning: perhaps some of it is in the service already. */
  service(share: number): { users: ServiceUser[]; groups: ServiceGroup[] } {
    const known = [...this.users.values()].filter(() => this.rng.chance(share))
    const ids = new Set(known.map(({ id }) => id))
    return {
      users: known.map(({ id, name, email }) => ({ id, name: name ?? null, email: email ?? null })),
      groups: [...this.groups.values()]
        .filter(({ isInFilter }) => isInFilter && this.rng.chance(share))
        .map(({ id, name, lists }) => ({
          id,
          name,
          members: [...new Set(lists.flatMap(({ users }) => users.filter((user) => ids.has(user))))],
        })),
    }
  }

  /** Everyday changes. */
  live(count: number): void {
    for (let left = count; left > 0; left -= 1) this.#change()
  }

  #change(): void {
    const { rng } = this
    const ids = this.ids()
    if (this.groups.size === 0) this.found()
    const user = this.users.get(rng.pick(ids))
    const group = rng.pick([...this.groups.values()])
    switch (rng.int(7)) {
      case 0:
        this.hire()
        break
      case 1:
        if (ids.length > 4) this.leave(user!.id)
        break
      case 2:
        user!.name = `Renamed${rng.int(99)}`
        break
      case 3:
        user!.email = `mail${rng.int(60)}@example.org`
        break
      case 4:
        group.lists[0]!.users = rng.some(ids, rng.int(8))
        break
      case 5:
        group.name = `Group ${rng.int(99)}`
        break
      default:
        if (rng.chance(0.5)) this.found()
        else if (this.groups.size > 1) this.close(group.id)
    }
  }

  draft(): Draft {
    this.#position += 1
    return {
      hidden: { user: new Set(), group: new Set() },
      recheck: { user: new Map(), group: new Map() },
      skipped: new Map(),
      silentGroups: new Set(),
      silentAttributes: new Set(),
      unreadable: 0,
      losses: { renamed: new Set(), unproved: new Map(), provedEmpty: new Set() },
      idsAt: new Map(),
      others: [],
      listing: { hiddenUsers: new Set(), hiddenGroups: new Set(), empty: [], shared: [], isMoved: false },
      fates: new Map(),
      ends: 'well',
      mode: 'sync',
      only: undefined,
      decides: [],
      undo: undefined,
      server: this.isLdap && this.hasServer ? this.server() : undefined,
      ahead: this.rng.pick([10 * MINUTE, HOUR, 13 * HOUR, 25 * HOUR]),
    }
  }

  /** A server whose data is `behind` by so many changes. */
  server(behind = 0): Server {
    return {
      url: 'ldap://a:389',
      address: '10.0.0.1',
      addresses: 1,
      database: 'dc=x 1',
      position: { s1: String(this.#position - behind).padStart(6, '0') },
      hints: {},
    }
  }

  step(draft: Draft): Step {
    const {
      hidden: _,
      skipped: _skipped,
      silentGroups,
      silentAttributes,
      unreadable,
      server,
      ...rest
    } = draft
    return {
      ...rest,
      losses: rest.losses satisfies Losses,
      listing: rest.listing satisfies Listing,
      rules: structuredClone(this.rules),
      seen: this.#seen(draft, { unreadable, server, isSilent: silenceOf(silentGroups, silentAttributes) }),
    }
  }

  #seen(
    { hidden, skipped }: Draft,
    {
      isSilent,
      ...read
    }: Pick<Seen, 'unreadable' | 'server'> & { isSilent: (group: string, list: string) => boolean },
  ): Seen {
    const isShown = ({ id }: { readonly id: string }) => !hidden.user.has(id) && !skipped.has(id)
    const lists = ({ id, lists: all }: Group) =>
      all
        .filter(({ attribute }) => this.attributes.includes(attribute))
        .map((list) => ({
          ...list,
          users: isSilent(id, list.attribute) ? [] : list.users.filter((user) => !hidden.user.has(user)),
          nested: isSilent(id, list.attribute) ? [] : [...list.nested],
          unresolved: isSilent(id, list.attribute) ? [] : [...list.unresolved],
        }))
    const groups = [...this.groups.values()].filter(({ id }) => !hidden.group.has(id))
    return {
      ...read,
      users: [...this.users.values()].filter(isShown).map((user) => ({ ...user })),
      groups: groups.map((group) => ({ ...group, lists: lists(group) })),
      skipped: Array.from(skipped, ([id, code]) => ({
        kind: this.groups.has(id) ? 'group' : 'user',
        id,
        code,
      })),
      covers: this.covers,
      memberAttributes: [...this.attributes],
      isLdap: this.isLdap,
    }
  }
}

function silenceOf(groups: ReadonlySet<string>, attributes: ReadonlySet<string>) {
  return (group: string, attribute: string) => groups.has(group) || attributes.has(attribute)
}

function rulesOf(rng: Rng): Mutable<Rules> {
  const kind = {
    maxDeletes: 50,
    maxDeletePercent: 90,
    maxDeletesPerDay: 90,
    maxUpdates: null,
    maxUpdatePercent: null,
  }
  return {
    policy: 'mirror',
    membership: 'write',
    allowedDomains: [],
    dropBadEmails: false,
    emails: 'unique',
    entries: {},
    limits: {
      users: kind,
      groups: kind,
      memberships: kind,
      minSourceUsers: 1,
      maxSourceShrinkPercent: 80,
    },
    grace: { deleteAfter: {}, confirmAfterMs: 10 * MINUTE, hidesServers: false },
    options: { 'users.filter': 'a' },
    holdMs: rng.pick([2 * HOUR, 7 * DAY]),
  }
}
