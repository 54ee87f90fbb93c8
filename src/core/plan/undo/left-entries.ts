import type { Kind } from '../../entries/entry.ts'
import type { ChangedSince } from '../../notice.ts'
import { canonicalName, isSameEmail } from '../../entries/normalize.ts'
import type { DirectorySnapshot } from '../../entries/snapshot.ts'
import { type Change, type ChangeOf, type UserValues, kindOf } from '../change.ts'
import type { LaterAttempts } from './later-attempts.ts'

interface LeftFacts {
  readonly directory: DirectorySnapshot
  readonly later: LaterAttempts
  readonly say: (kind: Kind, id: string, why: ChangedSince) => void
}

/** Entries unknown to the run stay, with their memberships. Each is named once, where it would have changed. */
export class LeftEntries {
  readonly #facts: LeftFacts
  readonly #why = { user: new Map<string, ChangedSince>(), group: new Map<string, ChangedSince>() }
  readonly #deleted = { user: new Set<string>(), group: new Set<string>() }
  readonly #said = { user: new Set<string>(), group: new Set<string>() }

  constructor(facts: LeftFacts) {
    this.#facts = facts
    for (const { code, kind, id } of facts.directory.notices)
      if (code === 'shared-id' && id !== undefined) this.leave(kind, id, { how: 'shared-id' })
  }

  /** Call it for each change of the run before `has` is called for memberships. */
  check(change: Change): void {
    const { op, id } = change
    const kind = kindOf(op)
    if (op === 'delete-user' || op === 'delete-group') this.#deleted[kind].add(id)
    const why = this.has(kind, id) ? undefined : this.#whyOf(change)
    if (why !== undefined) this.leave(kind, id, why)
  }

  leave(kind: Kind, id: string, why: ChangedSince): void {
    this.#why[kind].set(id, why)
  }

  /** A user that another client has put into a group. */
  leaveJoined(id: string, group: string): void {
    const now = valuesOf(this.#facts.directory.users.get(id)!)
    this.leave('user', id, { how: 'joined', now, group })
    this.say('user', id)
  }

  has(kind: Kind, id: string): boolean {
    return this.#reason(kind, id) !== undefined
  }

  say(kind: Kind, id: string): void {
    const why = this.#reason(kind, id)
    if (why === undefined || this.#said[kind].has(id)) return
    this.#said[kind].add(id)
    this.#facts.say(kind, id, why)
  }

  #reason(kind: Kind, id: string): ChangedSince | undefined {
    const known = this.#why[kind].get(id)
    if (known !== undefined) return known
    const { directory, later } = this.#facts
    const isThere = kind === 'user' ? directory.users.has(id) : directory.groups.has(id)
    const attempt = later.of(kind, id)
    // An entry that the run deleted is compared by its values.
    if (!isThere || attempt === undefined || this.#deleted[kind].has(id)) return undefined
    return { how: attempt.does === 'create' ? 'created' : 'back', by: attempt.run }
  }

  #whyOf(change: Change): ChangedSince | undefined {
    switch (change.op) {
      case 'create-user': {
        const wanted = { email: change.want.email ?? null, name: change.want.name ?? null }
        const now = this.#facts.directory.users.get(change.id)
        return now === undefined || hasValues(now, wanted) ? undefined : otherValues(now, 'wrote', wanted)
      }
      case 'delete-user': {
        const { id, have } = change
        const now = this.#facts.directory.users.get(id)
        if (now === undefined || hasValues(now, have)) return undefined
        // An undo of a part may have left the e-mail with another user.
        if (isWithoutEmail(now, have) && this.#facts.later.isPutBack('user', id)) return undefined
        return otherValues(now, 'deleted', have)
      }
      case 'create-group':
        return this.#otherName(change.id, 'created', change.want.name)
      case 'delete-group':
        return this.#otherName(change.id, 'deleted', change.have.name)
      case 'update-user':
      case 'update-group':
      case 'set-members':
        return undefined
    }
  }

  #otherName(id: string, did: 'created' | 'deleted', name: string): ChangedSince | undefined {
    const now = this.#facts.directory.groups.get(id)
    if (now === undefined || canonicalName(now.name) === canonicalName(name)) return undefined
    return { how: 'name', now: now.name, did, name }
  }
}

function otherValues(now: UserValues, did: 'wrote' | 'deleted', values: UserValues): ChangedSince {
  return { how: 'values', now: valuesOf(now), did, values: valuesOf(values) }
}

function valuesOf({ email, name }: UserValues): UserValues {
  return { email, name }
}

/** On canonical values. */
export function hasValues(now: UserValues, { email, name }: UserValues): boolean {
  return isSameEmail(now.email, email) && isSameName(now.name, name)
}

/** Whether only the e-mail is missing: an undo of a part may have left it with another user. */
function isWithoutEmail(now: UserValues, before: UserValues): boolean {
  return !now.email && Boolean(before.email) && isSameName(now.name, before.name)
}

/**
 * Fields that still have what the update wrote, and those that were empty before; or that one has neither that nor what
 * it had before.
 */
export function restoredFields(
  now: UserValues,
  have: UserValues,
  want: ChangeOf<'update-user'>['want'],
): { readonly restored: Partial<UserValues>; readonly lost: readonly ('email' | 'name')[] } | ChangedSince {
  const restored: { email?: string; name?: string } = {}
  const lost: ('email' | 'name')[] = []
  for (const field of ['email', 'name'] as const) {
    const written = want[field]
    if (written === undefined || IS_SAME[field](now[field], have[field])) continue
    if (!IS_SAME[field](now[field], written)) return otherValues(now, 'wrote', { ...have, ...want })
    const before = have[field]
    if (before) restored[field] = before
    else lost.push(field)
  }
  return { restored, lost }
}

function isSameName(name: string | null, other: string | null): boolean {
  return canonicalName(name ?? '') === canonicalName(other ?? '')
}

const IS_SAME = { email: isSameEmail, name: isSameName }
