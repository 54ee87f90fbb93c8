import { type Selectable, sql, type Transaction } from 'kysely'
import type { SyncTarget } from './run-types.ts'
import type { Db, Tables } from './tables.ts'

declare const fenced: unique symbol

/** A transaction in which the run's row is locked: until it ends, nobody can end the run or take it over. */
export type Fenced = Transaction<Tables> & { readonly [fenced]: true }

/** The run has ended, or it belongs to another process now: nothing was written. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'

  constructor(run: number) {
    super(`run ${run} has ended or belongs to another process`)
  }
}

/** What every writer needs to know of the run. */
export type LockedRun = SyncTarget &
  Pick<Selectable<Tables['dirsyncd.runs']>, 'state' | 'stop_code' | 'look_first'> & {
    readonly directory_moved: boolean | null
  }

/**
 * A run as its owner and its workers may write it: under one epoch of the sync's lease, until the run has ended. All
 * that writes a run's state, plan, holds and outcomes takes a `Fenced`, and only `write` makes one.
 */
export class FencedRun {
  readonly #db: Db
  readonly run: number
  readonly epoch: number

  constructor(db: Db, { run, epoch }: Pick<FencedRun, 'run' | 'epoch'>) {
    this.#db = db
    this.run = run
    this.epoch = epoch
  }

  /** Does the work in one transaction. Throws `Overtaken`. */
  async write<T>(work: (trx: Fenced, run: LockedRun) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (trx) => {
      const { rows } = await sql<LockedRun>`SELECT r.sync, r.target, r.state, r.stop_code, r.look_first,
          (r.evidence ->> 'directoryMoved')::boolean AS directory_moved
        FROM dirsyncd.runs r JOIN dirsyncd.leases l ON l.sync = r.sync AND l.epoch = r.epoch
        WHERE r.run = ${this.run} AND r.epoch = ${this.epoch} AND r.finished_at IS NULL
        FOR UPDATE OF r`.execute(trx)
      const [locked] = rows
      if (locked === undefined) throw new Overtaken(this.run)
      return work(trx as Fenced, locked)
    })
  }
}
