import { canonicalEmail } from '../entries/normalize.ts'
import type { Change, ChangeOf } from './change.ts'

export type Create = ChangeOf<'create-user' | 'create-group'>

/**
 * Bytes of entries in one request, at most. Services accept bodies of 100 kB and forms of 1,000 fields by default; 100
 * entries have 400 at most.
 */
const MOST_BYTES = 64 * 1024

/** The name of a field in a form, such as `users%5B%5D%5Bemployee_id%5D=`. */
const FIELD_BYTES = 32

interface Batch<T> {
  readonly items: T[]
  readonly ids: Set<string>
  readonly emails: Set<string>
  bytes: number
}

/**
 * Divides changes into batches of at most `most`, one per request. Only creates share a request. Those of a batch
 * - have the same operation and the same fields: a service that reads a list wrongly cannot give an entry a value that
 *   it lacks;
 * - have different ids and e-mails, and no e-mail that another user still has, so that they do not conflict among
 *   themselves;
 * - have at most `MOST_BYTES` together, unless one alone has more.
 */
export function batchesOf<T extends { readonly change: Change }>(
  items: readonly T[],
  most: number,
): readonly (readonly T[])[] {
  const batches: (readonly T[])[] = []
  const open = new Map<string, Batch<T>>()
  for (const item of items) {
    const { change } = item
    if (most <= 1 || !mayShare(change)) {
      batches.push([item])
      continue
    }
    const shape = shapeOf(change)
    let batch = open.get(shape)
    if (batch === undefined || !fits(batch, change, most)) {
      batch = { items: [], ids: new Set(), emails: new Set(), bytes: 0 }
      open.set(shape, batch)
      batches.push(batch.items)
    }
    add(batch, item, change)
  }
  return batches
}

function mayShare(change: Change): change is Create {
  return change.op === 'create-group' || (change.op === 'create-user' && change.takes === undefined)
}

function shapeOf({ op, want }: Create): string {
  const fields = Object.entries(want).filter(([, value]) => value !== undefined)
  return [op, ...fields.map(([name]) => name).toSorted()].join(' ')
}

function fits<T>({ items, ids, emails, bytes }: Batch<T>, change: Create, most: number): boolean {
  const email = emailOf(change)
  return (
    items.length < most &&
    bytes + bytesOf(change) <= MOST_BYTES &&
    !ids.has(change.id) &&
    (email === undefined || !emails.has(email))
  )
}

function add<T>(batch: Batch<T>, item: T, change: Create): void {
  const email = emailOf(change)
  batch.items.push(item)
  batch.ids.add(change.id)
  if (email !== undefined) batch.emails.add(email)
  batch.bytes += bytesOf(change)
}

function emailOf({ want }: Create): string | undefined {
  return 'email' in want && want.email !== undefined ? canonicalEmail(want.email) : undefined
}

function bytesOf({ id, want }: Create): number {
  let bytes = FIELD_BYTES + encodedLength(id)
  for (const value of Object.values(want)) bytes += FIELD_BYTES + encodedLength(value ?? '')
  return bytes
}

function encodedLength(text: string): number {
  return encodeURIComponent(text.toWellFormed()).length
}
