import type { RecordedBreach } from '../../../src/core/plan/decide.ts'
import type { Ram } from '../../reference/store/ram.ts'
import type { RunState } from '../../reference/store/run-types.ts'
import * as runs from '../../reference/store/runs.ts'
import { inBothForms } from './breaches.ts'

export { finishRun } from '../../reference/store/runs.ts'

type Planned = NonNullable<Parameters<typeof runs.setRunState>[3]>

export function setRunState(
  ram: Ram,
  run: number,
  state: RunState,
  {
    breaches,
    ...planned
  }: Omit<Planned, 'breaches'> & { readonly breaches?: readonly RecordedBreach[] } = {},
): Promise<void> {
  return runs.setRunState(ram, run, state, {
    ...planned,
    ...(breaches !== undefined && { breaches: inBothForms(breaches) }),
  })
}
