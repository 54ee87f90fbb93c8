import type { RecordedBreach } from '../../../src/core/plan/decide.ts'
import * as holds from '../../reference/store/holds.ts'
import type { Ram } from '../../reference/store/ram.ts'
import type { RunRecord } from '../../reference/store/runs.ts'
import { inBothForms } from './breaches.ts'

export { closeHold } from '../../reference/store/holds.ts'

type With<Hold> = Omit<Hold, 'breaches'> & { readonly breaches: readonly RecordedBreach[] }

export function holdRun(
  ram: Ram,
  run: RunRecord,
  state: 'held' | 'done',
  hold: With<Parameters<typeof holds.holdRun>[3]>,
): Promise<void> {
  return holds.holdRun(ram, run, state, { ...hold, breaches: inBothForms(hold.breaches) })
}

export function joinHold(
  ram: Ram,
  run: RunRecord,
  hold: With<Parameters<typeof holds.joinHold>[2]>,
): Promise<boolean> {
  return holds.joinHold(ram, run, { ...hold, breaches: inBothForms(hold.breaches) })
}
