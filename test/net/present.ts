import { atOnce } from '../../src/base/steps.ts'
import { DirectoryUsers } from '../../src/core/entries/users.ts'
import { partFingerprints } from '../../src/core/plan/change.ts'
import { choices, decidedChanges, holdAfter, undecided } from '../../src/core/plan/decide.ts'
import { GUARDED, heldChanges } from '../../src/core/plan/guards.ts'
import { leftOut } from '../../src/core/plan/left-out.ts'
import { opsOfPart } from '../../src/core/plan/part/part.ts'
import { Pass } from '../../src/sync/pass.ts'
import { runSync } from '../../src/sync/run.ts'
import { runUndo } from '../../src/sync/undo.ts'
import type { Core } from '../reference/store/ram.ts'
import type { Decider } from './decider.ts'
import { newSource } from './new-form.ts'
import { runnerOf } from './runner.ts'
import { inBothForms } from './store/breaches.ts'

const run = runnerOf({ Pass, runSync, runUndo } as never)

/**
 * The decider of `src`, which only this file and `store` know: its snapshots, its modules and how a run is made. The
 * plugin of `ram-store.ts` gives it the store in RAM.
 */
export const present: Decider = {
  core: {
    partFingerprints,
    choices,
    decidedChanges: (...of: Parameters<typeof decidedChanges>) => atOnce(decidedChanges(...of)),
    holdAfter: (...of: Parameters<typeof holdAfter>) => atOnce(holdAfter(...of)),
    undecided,
    heldChanges: (...of: Parameters<typeof heldChanges>) => atOnce(heldChanges(...of)),
    leftOut,
    opsOfPart,
    GUARDED,
  } as unknown as Core,
  sourceOf: (step) => newSource(step) as never,
  directoryUsers: (table) => new DirectoryUsers(table as never),
  run: (ram, number, step, around) =>
    run(ram, number, step, {
      ...around,
      afterKeep: (kept) =>
        around.afterKeep({ ...kept, breaches: inBothForms(kept.breaches as readonly unknown[] as never) }),
    }),
}
