import { DirectoryUsers, SourceUsers } from '../../src/core/entries/users.ts'
import { partFingerprints } from '../../src/core/plan/change.ts'
import { choices, decidedChanges, holdAfter, undecided } from '../../src/core/plan/decide.ts'
import { GUARDED, heldChanges } from '../../src/core/plan/guards.ts'
import { leftOut } from '../../src/core/plan/left-out.ts'
import { opsOfPart } from '../../src/core/plan/part/part.ts'
import { Pass } from '../../src/sync/pass.ts'
import { runSync } from '../../src/sync/run.ts'
import { runUndo } from '../../src/sync/undo.ts'
import type { Decider } from './decider.ts'
import { oldSnapshot } from './old-form.ts'
import { runnerOf } from './runner.ts'

/**
 * The decider of `src`, the only place of the net that knows it: its snapshots, its modules and how a run is made. The
 * plugin of `ram-store.ts` gives it the store in RAM.
 */
export const present = {
  core: {
    partFingerprints,
    choices,
    decidedChanges,
    holdAfter,
    undecided,
    heldChanges,
    leftOut,
    opsOfPart,
    GUARDED,
  },
  snapshotOf: (seen, table) => oldSnapshot(seen, new SourceUsers(table as never)),
  directoryUsers: (table) => new DirectoryUsers(table as never),
  run: runnerOf({ Pass, runSync, runUndo } as never),
} as Decider
