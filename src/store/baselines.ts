import { createHash } from 'node:crypto'
import { endianness } from 'node:os'
import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import type { Baseline } from '../core/plan/baseline.ts'
import type { SyncTarget } from './run-types.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

const IS_LITTLE_ENDIAN = endianness() === 'LE'

/** Where the entries of the last good run of this sync on this target were. */
export async function findBaseline(
  db: Db,
  { sync, target }: SyncTarget,
  kind: Kind,
): Promise<Baseline | undefined> {
  const row = await db
    .selectFrom('dirsyncd.baselines')
    .select(['depth', 'containers', 'entries', 'emptied'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('kind', '=', kind)
    .executeTakeFirst()
  return row && { ...row, entries: numbersIn(row.entries) }
}

/** Writes nothing where the baseline is the one that is stored. */
export async function storeBaseline(
  db: Db,
  { sync, target }: SyncTarget,
  kind: Kind,
  { depth, containers, entries, emptied }: Baseline,
): Promise<void> {
  const bytes = bytesOf(entries)
  const names = JSON.stringify(containers)
  const waiting = JSON.stringify(emptied)
  const digest = createHash('sha256').update(`${depth} ${names} ${waiting}`).update(bytes).digest('hex')
  const stored = await db
    .selectFrom('dirsyncd.baselines')
    .select('digest')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('kind', '=', kind)
    .executeTakeFirst()
  if (stored?.digest === digest) return
  const values = { digest, depth, containers: names, entries: bytes, emptied: waiting }
  await db
    .insertInto('dirsyncd.baselines')
    .values({ sync, target, kind, ...values })
    .onConflict((conflict) => conflict.columns(['sync', 'target', 'kind']).doUpdateSet(values))
    .execute()
}

/**
 * Adds containers whose people wait to the stored baseline. The digest is cleared, so that the next completed run
 * writes its own baseline.
 */
export async function addEmptied(
  db: Db,
  { sync, target }: SyncTarget,
  kind: Kind,
  emptied: readonly string[],
): Promise<void> {
  if (emptied.length === 0) return
  await db
    .updateTable('dirsyncd.baselines')
    .set({
      emptied: sql`(SELECT jsonb_agg(DISTINCT name) FROM jsonb_array_elements(emptied || ${JSON.stringify(emptied)}::jsonb) AS name)`,
      digest: '',
    })
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('kind', '=', kind)
    .execute()
}

/** Little-endian, whatever machine reads it later. */
function bytesOf(numbers: BigUint64Array): Buffer {
  const bytes = Buffer.from(numbers.slice().buffer)
  return IS_LITTLE_ENDIAN ? bytes : bytes.swap64()
}

function numbersIn(stored: Buffer): BigUint64Array {
  // A copy, because the numbers must begin at a multiple of eight.
  const bytes = Buffer.from(new Uint8Array(stored).buffer)
  return new BigUint64Array((IS_LITTLE_ENDIAN ? bytes : bytes.swap64()).buffer)
}
