/** What a pass calls of apply and of the queue; the net applies plans itself. */
export const TIMES = undefined

export async function drainRun(): Promise<void> {
  throw new Error('the net applies plans itself')
}

export async function workersOfEndedRuns(): Promise<readonly string[]> {
  return []
}

export async function closeChunksOfEndedRuns(): Promise<void> {}

export function isAway(): boolean {
  return false
}
