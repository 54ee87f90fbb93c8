import { canonicalEmail } from '../entries/normalize.ts'
import type { Notice } from '../notice.ts'
import type { CreateUser } from './change.ts'

interface Freed {
  /** Of several deleted users with this e-mail, the one with the smallest id. */
  oldId: string
  readonly rows: number[]
}

/**
 * The e-mails that the deletes of a plan free, and their new users. A user that is deleted and created again under
 * another id is probably the same: many such pairs mean that the id attribute of the sync is not stable.
 */
export class FreedEmails {
  readonly #freed = new Map<string, Freed>()
  readonly #newIds = new Map<string, string>()

  /** The row is that of the delete. */
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

  rowsOf(email: string | undefined): readonly number[] {
    return this.#of(email)?.rows ?? []
  }

  /** The notice names the deleted user with the same e-mail. */
  create({ id, want }: CreateUser): readonly Notice[] {
    const oldId = this.oldIdOf(want.email)
    if (oldId === undefined) return []
    const other = this.#newIds.get(oldId)
    if (other === undefined || id < other) this.#newIds.set(oldId, id)
    return [{ kind: 'user', id, code: 'new-id', params: { oldId, email: want.email ?? '' } }]
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
