import type { NewEvent, Origin } from '../event.ts'
import type { Trx } from './database.ts'

/** Writes events in the transaction of what they tell of, so that neither is there without the other. */
export async function recordEvents(_trx: Trx, _origin: Origin, _events: readonly NewEvent[]): Promise<void> {}
