import * as holds from '../../reference/store/holds.ts'
import type { Ram } from '../../reference/store/ram.ts'
import type { RunRecord } from '../../reference/store/runs.ts'
import type { inBothForms } from './breaches.ts'

export { closeHold } from '../../reference/store/holds.ts'

type With<Hold> = Omit<Hold, 'breaches'> & { readonly held: ReturnType<typeof inBothForms> }

/** The store in RAM compares when it stores. */
export async function compareHold(): Promise<undefined> {
  return undefined
}

export function holdRun(
  ram: Ram,
  run: RunRecord,
  state: 'held' | 'done',
  { held, ...hold }: With<Parameters<typeof holds.holdRun>[3]>,
): Promise<void> {
  return holds.holdRun(ram, run, state, { ...hold, breaches: held })
}

export function joinHold(
  ram: Ram,
  run: RunRecord,
  { held, ...hold }: With<Parameters<typeof holds.joinHold>[2]>,
): Promise<boolean> {
  return holds.joinHold(ram, run, { ...hold, breaches: held })
}
