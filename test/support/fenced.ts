import { FencedRun } from '../../src/store/fenced-run.ts'
import type { Store } from '../../src/store/open.ts'
import { beginRun, findRun } from '../../src/store/runs.ts'
import { QUICK } from './times.ts'

/** Begins a waiting run, as a process does that takes the lease for it and lets go of it again. */
export async function beginFenced(
  { db, leases }: Pick<Store, 'db' | 'leases'>,
  number: number,
): Promise<FencedRun> {
  const run = (await findRun(db, number))!
  const lease = (await leases.take(run.sync, 'a test', QUICK.lease))!
  await beginRun(db, lease, number, run.target)
  await lease[Symbol.asyncDispose]()
  return new FencedRun(db, { run: number, epoch: lease.epoch })
}
