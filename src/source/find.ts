import type { Kind, UserEntry } from '../core/entries/entry.ts'
import { canonicalEmail, canonicalName } from '../core/entries/normalize.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { GroupMapping, Lookup, UserMapping } from './mapping.ts'
import type { FieldTrace, Found, FoundEntry, Wanted } from './source.ts'

export interface PassedEntry {
  readonly ids: readonly string[]
  readonly from: string
  readonly lookup: Lookup
  readonly email?: string | undefined
  readonly name: string | undefined
  readonly members?: number | undefined
}

/** How the mapped values of an entry came about. */
export function traces(lookup: Lookup, map: UserMapping | GroupMapping): readonly FieldTrace[] {
  const of = (field: FieldTrace['field'], value: GroupMapping['name']) => ({
    field,
    steps: value.trace(lookup),
    value: value.valueOf(lookup),
  })
  const name = of('name', map.name)
  return 'email' in map ? [of('email', map.email), name, of('employee_id', map.employeeId)] : [name]
}

export class Finder {
  readonly #wanted: Wanted
  readonly #email: string
  readonly #name: string
  readonly #words: readonly string[]
  readonly #byId: FoundEntry[] = []
  readonly #byValue: FoundEntry[] = []
  readonly #byWords: FoundEntry[] = []

  constructor(wanted: Wanted) {
    this.#wanted = wanted
    this.#email = canonicalEmail(wanted.who)
    this.#name = foldedName(wanted.who)
    this.#words = this.#name.split(/\s+/)
  }

  see(kind: Kind, entry: PassedEntry, map: UserMapping | GroupMapping): void {
    const { ids, from, members, lookup } = entry
    const list = this.#listOf(kind, entry)
    list?.push({ kind, ids, from, standing: undefined, fields: traces(lookup, map), members })
  }

  /** The best matches: by id or origin, else by e-mail or name, else by each word of the name. */
  entries(): readonly FoundEntry[] {
    return [this.#byId, this.#byValue, this.#byWords].find((list) => list.length > 0) ?? []
  }

  #listOf(kind: Kind, { ids, from, email, name }: PassedEntry): FoundEntry[] | undefined {
    const { who, kinds } = this.#wanted
    if (!kinds.includes(kind)) return undefined
    if (ids.includes(who) || from === who) return this.#byId
    if (email !== undefined && canonicalEmail(email) === this.#email) return this.#byValue
    if (name === undefined) return undefined
    const folded = foldedName(name)
    if (folded === this.#name) return this.#byValue
    const [first = '', ...others] = this.#words
    if (others.length === 0 || !folded.includes(first)) return undefined
    const words = new Set(folded.split(/\s+/))
    return this.#words.every((word) => words.has(word)) ? this.#byWords : undefined
  }
}

function foldedName(name: string): string {
  return canonicalName(name).toLowerCase()
}

/** Reads everything. If a name or e-mail matched and other entries have the same id, reads again by the id. */
export async function findInRead(
  wanted: Wanted,
  searched: string,
  read: (finder: Finder) => Promise<SourceSnapshot>,
): Promise<Found> {
  const finder = new Finder(wanted)
  const snapshot = await read(finder)
  const entries = finder.entries()
  const shared = snapshot.notices.find(
    ({ code, kind, id }) => code === 'duplicate-id' && id !== wanted.who && isOnlyId(entries, kind, id),
  )
  if (shared?.id !== undefined) return findInRead({ who: shared.id, kinds: [shared.kind] }, searched, read)
  return {
    entries,
    snapshot: await inTurns(partAbout(entries, snapshot)),
    everybody: snapshot.users,
    searched,
    server: undefined,
  }
}

/** The entries with one of these ids, and the users with the same e-mail. */
function* partAbout(entries: readonly FoundEntry[], snapshot: SourceSnapshot): Steps<SourceSnapshot> {
  const ids = new Set(entries.flatMap((entry) => entry.ids))
  const emails = new Set([...ids].map((id) => emailIn(snapshot.users.get(id))))
  emails.delete(undefined)
  const users = new Map<string, UserEntry>()
  yield* forEachInSteps(snapshot.users.values(), (user) => {
    if (ids.has(user.id) || emails.has(emailIn(user))) users.set(user.id, user)
  })
  return { ...snapshot, users, groups: new Map([...snapshot.groups].filter(([id]) => ids.has(id))) }
}

function emailIn(user: UserEntry | undefined): string | undefined {
  return user?.email === undefined ? undefined : canonicalEmail(user.email)
}

function isOnlyId(entries: readonly FoundEntry[], kind: Kind, id: string | undefined): boolean {
  return (
    entries.length > 0 &&
    entries.every((entry) => entry.kind === kind && entry.ids.length === 1 && entry.ids[0] === id)
  )
}
