import { dnKey, normalizeDn } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import type { GroupRecord, ImageUsers, UserRecord } from '../image.ts'
import { isPartial, readWhole } from '../range.ts'
import { findEntry } from '../search.ts'
import {
  type SecondLook,
  attributesOfGroups,
  type People,
  takeGroup,
  type Unresolved,
} from './second-look.ts'

/** The most DNs unknown to the first read that are looked up in one run, one request each. */
const MOST_UNKNOWN = 1000

interface Resolution {
  /** Groups within the losing ones, as they are now. */
  readonly found: readonly GroupRecord[]
  /** Renamed users, at the DNs in the lists. */
  readonly renamedUsers: readonly UserRecord[]
  /** By the group's normal DN. */
  readonly unresolved: ReadonlyMap<string, Unresolved>
}

/**
 * Reads what the lists of groups name: nested groups, where they are flattened, and DNs that were in no list of the
 * first read, because users may have got them meanwhile. Unresolved members of the first read are looked up only when a
 * lost user is not found below the bases, because a user who has left the bases has such a DN.
 */
export function resolveUnknown(
  look: SecondLook,
  losing: readonly GroupRecord[],
  people: People,
): Promise<Resolution> {
  return new Resolver(look, people).resolve(losing)
}

class Resolver {
  readonly #secondLook: SecondLook
  readonly #people: People
  readonly #isFlat: boolean
  /** All groups of the first read, by normal DN, and those of the sync by id. */
  readonly #before: ReadonlyMap<string, GroupRecord>
  readonly #byId: ReadonlyMap<string | undefined, GroupRecord>
  readonly #peopleDns: ReadonlySet<string>
  readonly #userAt: (entry: LdapEntry) => UserRecord | undefined
  readonly #outcomes = new Map<string, Unresolved | undefined>()
  readonly #found: GroupRecord[] = []
  readonly #renamedUsers: UserRecord[] = []
  readonly #unresolved = new Map<string, Unresolved>()
  #looks = 0

  constructor(look: SecondLook, people: People) {
    const { image } = look.losses
    this.#secondLook = look
    this.#people = people
    this.#isFlat = look.compiled.groups.nested === 'flatten'
    this.#before = new Map([...image.others, ...image.groups].map((group) => [dnKey(group.dn), group]))
    this.#byId = new Map(image.groups.map((group) => [group.ids[0], group]))
    this.#peopleDns = new Set(people.records.map(({ dn }) => dnKey(dn)))
    this.#userAt = createUserFinder(look)
  }

  async resolve(losing: readonly GroupRecord[]): Promise<Resolution> {
    for (const name of new Set(this.#namedByPeople())) {
      const outcome = await this.#lookUp(name, false)
      if (outcome?.why === 'too-many') for (const { dn } of losing) this.#unresolved.set(dnKey(dn), outcome)
    }
    for (const group of losing) await this.#lookUpAll(group)
    // The list grows during the loop.
    for (const group of this.#found) await this.#lookUpAll(group)
    return { found: this.#found, renamedUsers: this.#renamedUsers, unresolved: this.#unresolved }
  }

  #namedByPeople(): readonly string[] {
    const { membersFrom } = this.#secondLook.compiled.groups
    return this.#isFlat && membersFrom === 'memberOf' ? [...this.#people.memberOf.values()].flat() : []
  }

  async #lookUpAll(group: GroupRecord): Promise<void> {
    const key = dnKey(group.dn)
    const before = this.#byId.get(group.ids[0]) ?? this.#before.get(key)
    const strangers = new Set(keysIn(before))
    for (const name of keysIn(group)) {
      const outcome = await this.#lookUp(name, strangers.has(name))
      if (outcome !== undefined) this.#unresolved.set(key, outcome)
    }
  }

  /** @param wasStranger the group named it in the first read, where it matched no entry */
  async #lookUp(key: string, wasStranger: boolean): Promise<Unresolved | undefined> {
    const known = this.#before.get(key)
    const isSettled =
      this.#secondLook.lists.has(key) || this.#peopleDns.has(key) || (known !== undefined && !this.#isFlat)
    const nobodyIsMissing = this.#people.missing.size === 0
    if (isSettled || (known === undefined && wasStranger && nobodyIsMissing)) return undefined
    if (!this.#outcomes.has(key)) this.#outcomes.set(key, await this.#lookAt(key, known))
    const outcome = this.#outcomes.get(key)
    return wasStranger && known === undefined && outcome?.why === 'not-shown' ? undefined : outcome
  }

  async #lookAt(key: string, known: GroupRecord | undefined): Promise<Unresolved | undefined> {
    if (known === undefined) this.#looks += 1
    if (known === undefined && this.#looks > MOST_UNKNOWN) return { why: 'too-many' }
    const look = this.#secondLook
    const entry = await readAt(look, known?.dn ?? key)
    if (entry === undefined) return { why: 'not-shown', dn: known?.dn ?? key }
    const user = known === undefined ? this.#userAt(entry) : undefined
    if (user !== undefined) this.#renamedUsers.push(user)
    else if (this.#isFlat && (known !== undefined || isGroup(look, entry)))
      this.#found.push(takeGroup(look, entry))
    return undefined
  }
}

/** The members of a group that are no users, and the groups that it is in. */
function keysIn(group: GroupRecord | undefined): readonly string[] {
  const members = (group?.nonUsers ?? []).map(normalizeDn)
  return [...members.filter((key) => key !== undefined), ...(group?.memberOf ?? [])]
}

/** Where users name their groups, what they name is a group. */
function isGroup({ records: { listed } }: SecondLook, entry: LdapEntry): boolean {
  const lookup = lookupIn(entry)
  return listed.length === 0 || listed.some((attribute) => lookup(attribute).length > 0)
}

function createUserFinder({ compiled, losses: { image }, records }: SecondLook) {
  let numbers: ReadonlyMap<string | undefined, number> | undefined
  return (entry: LdapEntry): UserRecord | undefined => {
    numbers ??= numbersById(image.users)
    const [id] = lookupIn(entry)(compiled.users.map.id)
    const number = id === undefined ? undefined : numbers.get(id)
    return number === undefined ? undefined : records.userOf(entry, image.users.at(number).disabled)
  }
}

function numbersById(users: ImageUsers): ReadonlyMap<string | undefined, number> {
  const numbers = new Map<string | undefined, number>()
  for (let number = 0; number < users.size; number += 1) numbers.set(users.idOf(number), number)
  return numbers
}

async function readAt(look: SecondLook, dn: string): Promise<LdapEntry | undefined> {
  const { reading, compiled, records } = look
  const attributes = [
    ...new Set([...attributesOfGroups(look), compiled.users.map.id, ...records.userAttributes]),
  ]
  const entry = await findEntry(reading.connection, dn, attributes)
  return entry !== undefined && isPartial(entry) ? readWhole(reading.connection, dn, attributes) : entry
}
