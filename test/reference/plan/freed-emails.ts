import { canonicalEmail } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { CreateUser } from './change.ts'

interface Freed {
  /** Of several deleted users with this e-mail, the one with the smallest id. */
  oldId: string
  readonly rows: number[]
}

/**
 * The e-mails that the deletes of a plan free, and who gets them. A user whom the plan deletes and creates again under
 * another id is probably the same person: many such pairs mean that the id attribute of the sync is not stable.
 */
export class FreedEmails {
  readonly #freed = new Map<string, Freed>()
  readonly #newIds = new Map<string, string>()

  /** Adds a deleted user. The row is that of the delete. */
  add(id: string, email: string | null, row: number): void {
    if (!email) return
    const canonical = canonicalEmail(email)
    const freed = this.#freed.get(canonical)
    if (freed === undefined) this.#freed.set(canonical, { oldId: id, rows: [row] })
    else {
      freed.rows.push(row)
      if (id < freed.oldId) freed.oldId = id
    }
  }

  /** The rows of the deletes that free this e-mail. */
  rowsOf(email: string | undefined): readonly number[] {
    return this.#of(email)?.rows ?? []
  }

  /** Notes that a user is created. The notice says that somebody with the same e-mail is deleted. */
  create({ id, want }: CreateUser): readonly Notice[] {
    const oldId = this.oldIdOf(want.email)
    if (oldId === undefined) return []
    const other = this.#newIds.get(oldId)
    if (other === undefined || id < other) this.#newIds.set(oldId, id)
    const detail = `looks like "${oldId}" under a new id, who is deleted in this plan: both have the e-mail ${want.email}`
    return [{ kind: 'user', id, code: 'new-id', detail }]
  }

  oldIdOf(email: string | undefined): string | undefined {
    return this.#of(email)?.oldId
  }

  newIdOf(oldId: string): string | undefined {
    return this.#newIds.get(oldId)
  }

  #of(email: string | undefined): Freed | undefined {
    if (email === undefined || this.#freed.size === 0) return undefined
    return this.#freed.get(canonicalEmail(email))
  }
}
