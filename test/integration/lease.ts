import { expect } from 'vitest'
import { findHeld, type Lease, type LeaseTimes } from '../../src/store/lease.ts'
import type { Store } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'

/** No machine is so busy that a renewal takes ten minutes; `passTime` lets a lease grow old. */
export const TIMES: LeaseTimes = { expiry: 600_000, renewal: 400, blocked: 600_000 }

/** Resolves when the holder has renewed the lease so many times; one that never expires is renewed never. */
export async function untilRenewed(sync: string, times: number, { db }: Store): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const before = await findHeld(db, sync)
    if (before?.renewedAt === 'infinity') return
    await eventually(async () => expect(await findHeld(db, sync)).not.toEqual(before))
  }
}

export function taken(lease: Lease | undefined): Lease {
  if (lease === undefined) throw new Error('not taken')
  return lease
}

export async function leaseConnections({ pool }: Store): Promise<number> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where application_name = 'dirsyncd leases' and datname = current_database()",
  )
  return rowCount ?? 0
}

/** Breaks the connection of the thread, once it has one. */
export async function breakConnection({ pool }: Store): Promise<void> {
  const broken = async () =>
    (
      await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'dirsyncd leases' and datname = current_database()`)
    ).rowCount
  await eventually(async () => expect(await broken()).toBe(1))
}
