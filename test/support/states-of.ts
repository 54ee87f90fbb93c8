import type { Recheck } from '../../src/core/entries/recheck.ts'

/** The states of rechecked entries alone. */
export async function statesOf(
  rechecks: Promise<ReadonlyMap<string, Recheck>>,
): Promise<Map<string, Recheck['state']>> {
  return new Map([...(await rechecks)].map(([id, { state }]) => [id, state]))
}
