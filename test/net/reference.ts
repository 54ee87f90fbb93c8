import { DirectoryUsers } from '../reference/directory/users.ts'
import { partFingerprints } from '../reference/plan/change.ts'
import { choices, decidedChanges, holdAfter, undecided } from '../reference/plan/decide.ts'
import { GUARDED, heldChanges } from '../reference/plan/guards.ts'
import { leftOut } from '../reference/plan/left-out.ts'
import { opsOfPart } from '../reference/plan/part/part.ts'
import { Pass } from '../reference/sync/pass.ts'
import { runSync } from '../reference/sync/run.ts'
import { runUndo } from '../reference/sync/undo.ts'
import type { Decider } from './decider.ts'
import { oldSource } from './old-form.ts'
import { runnerOf } from './runner.ts'

/** The decider of 3168b636. */
export const reference: Decider = {
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
  sourceOf: oldSource,
  directoryUsers: (table) => new DirectoryUsers(table),
  run: runnerOf({ Pass, runSync, runUndo }),
}
