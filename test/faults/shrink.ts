import type { Outcome } from './run-schedule.ts'
import type { Schedule } from './schedule.ts'

export interface Shrunk {
  readonly outcome: Outcome
  readonly tries: number
}

/**
 * Looks for a smaller schedule that fails by the same check, with a bounded number of tries: which requests a fault
 * hits depends on the moment, so a failure may not come again.
 */
export async function shrink(
  found: Outcome,
  options: {
    readonly tries: number
    readonly atOnce: number
    readonly run: (schedule: Schedule) => Promise<Outcome>
  },
): Promise<Shrunk> {
  const check = found.violations[0]!.check
  let smallest = found
  let tries = 0
  let candidates = smaller(found.schedule)
  while (tries < options.tries && candidates.length > 0) {
    const batch = candidates.splice(0, Math.min(options.atOnce, options.tries - tries))
    tries += batch.length
    const outcomes = await Promise.all(batch.map(options.run))
    const failing = outcomes.find(({ violations }) => violations.some((each) => each.check === check))
    if (failing === undefined) continue
    smallest = failing
    candidates = smaller(failing.schedule)
  }
  return { outcome: smallest, tries }
}

/** What is smaller by one step, the largest steps first. */
function smaller(schedule: Schedule): Schedule[] {
  const { faults, edits, users, groups } = schedule
  const half = Math.ceil(faults.length / 2)
  const steps: Schedule[] = []
  if (faults.length > 2) {
    steps.push({ ...schedule, faults: faults.toSpliced(0, half) })
    steps.push({ ...schedule, faults: faults.toSpliced(half, half) })
  }
  for (let at = 0; at < faults.length && faults.length > 1; at += 1) {
    steps.push({ ...schedule, faults: faults.toSpliced(at, 1) })
  }
  for (let at = 0; at < edits.length; at += 1) steps.push({ ...schedule, edits: edits.toSpliced(at, 1) })
  if (users > 40) steps.push({ ...schedule, users: Math.ceil(users / 2), groups: Math.ceil(groups / 2) })
  return steps
}
