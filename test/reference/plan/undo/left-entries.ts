import type { Kind } from '../../directory/entry.ts'
import { canonicalName } from '../../directory/normalize.ts'
import type { DirectorySnapshot } from '../../directory/snapshot.ts'
import { type Change, kindOf, type UserValues } from '../change.ts'
import { type LaterAttempts, laterText } from './later-attempts.ts'
import { hasValues, isWithoutEmail, personText } from './values.ts'

interface LeftFacts {
  /** The run that is undone. */
  readonly run: number
  readonly directory: DirectorySnapshot
  readonly later: LaterAttempts
  /** Says of an entry that it is left alone. */
  readonly say: (kind: Kind, id: string, why: string) => void
}

/**
 * The entries that are not those which the run created or deleted, or knew: neither they nor their memberships are
 * touched. Each is named once, and only where it would have been touched.
 */
export class LeftEntries {
  readonly #facts: LeftFacts
  readonly #why = { user: new Map<string, string>(), group: new Map<string, string>() }
  readonly #deleted = { user: new Set<string>(), group: new Set<string>() }
  readonly #said = { user: new Set<string>(), group: new Set<string>() }

  constructor(facts: LeftFacts) {
    this.#facts = facts
    for (const { code, kind, id } of facts.directory.notices)
      if (code === 'shared-id' && id !== undefined) this.leave(kind, id, SHARED)
  }

  /** Takes each change of the run, before `has` is asked about memberships. */
  check(change: Change): void {
    const { op, id } = change
    const kind = kindOf(op)
    if (op === 'delete-user' || op === 'delete-group') this.#deleted[kind].add(id)
    const why = this.has(kind, id) ? undefined : this.#whyOf(change)
    if (why !== undefined) this.leave(kind, id, why)
  }

  leave(kind: Kind, id: string, why: string): void {
    this.#why[kind].set(id, why)
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

  #reason(kind: Kind, id: string): string | undefined {
    const known = this.#why[kind].get(id)
    if (known !== undefined) return known
    const { directory, later } = this.#facts
    const isThere = kind === 'user' ? directory.users.has(id) : directory.groups.has(id)
    const attempt = later.of(kind, id)
    // What the run deleted is compared by its values.
    return isThere && attempt !== undefined && !this.#deleted[kind].has(id) ? laterText(attempt) : undefined
  }

  #whyOf(change: Change): string | undefined {
    switch (change.op) {
      case 'create-user': {
        const wanted = { email: change.want.email ?? null, name: change.want.name ?? null }
        const now = this.#facts.directory.users.get(change.id)
        return now === undefined || hasValues(now, wanted) ? undefined : this.textOf(now, 'wrote', wanted)
      }
      case 'delete-user': {
        const { id, have } = change
        const now = this.#facts.directory.users.get(id)
        if (now === undefined || hasValues(now, have)) return undefined
        // An undo of a part may have found the e-mail with somebody else.
        if (isWithoutEmail(now, have) && this.#facts.later.isPutBack('user', id)) return undefined
        return this.textOf(now, 'deleted', have)
      }
      case 'create-group':
        return this.#whyNamed(
          change.id,
          change.want.name,
          (now) => `is called "${now}" now, and was created as`,
        )
      case 'delete-group':
        return this.#whyNamed(change.id, change.have.name, (now) => `is there again as "${now}", and was`)
      case 'update-user':
      case 'update-group':
      case 'set-members':
        return undefined
    }
  }

  /** `is Ana <ana@example.org> now, and run 12 wrote Bea <bea@example.org>` */
  textOf(now: UserValues, did: string, values: UserValues): string {
    return `is ${personText(now)} now, and run ${this.#facts.run} ${did} ${personText(values)}`
  }

  #whyNamed(id: string, name: string, textOf: (now: string) => string): string | undefined {
    const now = this.#facts.directory.groups.get(id)
    if (now === undefined || canonicalName(now.name) === canonicalName(name)) return undefined
    return `${textOf(now.name)} "${name}"`
  }
}

const SHARED = 'several entries of the directory have this id: left as they are'
