import type { Protection } from '../protection.ts'

/** Queue, store, run and operations: `src/queue/`, `src/store/`, `src/sync/`, `src/control/`. */
export const STORES: readonly Protection[] = []
