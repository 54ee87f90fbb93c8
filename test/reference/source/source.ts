import type { LossLook, PreferredServer } from '../directory/evidence.ts'
import type { Kind } from '../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { UserTable } from '../directory/user-table.ts'

/** What a decider calls of a source. */
export interface Source {
  read(
    signal: AbortSignal,
    options: {
      readonly preferred: PreferredServer | undefined
      readonly isAsked: boolean
      readonly table: UserTable
    },
  ): Promise<SourceSnapshot>
  lookAgain(kind: Kind, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Sighting>>
  lookAtLosses?(
    snapshot: SourceSnapshot,
    losses: ReadonlyMap<string, readonly string[]>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LossLook>>
  idsAt?(dns: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>>
}
