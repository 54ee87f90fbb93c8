import type { BreachView, RunSummary } from '../control/control.ts'
import { total } from './total.ts'

/** The exit codes of commands that ran to their end; those of errors are in `errors.ts`. */
export const EXIT = { done: 0, error: 1, changes: 2, held: 3, incomplete: 4 } as const

/** From the least bad to the worst. */
const BY_SEVERITY: readonly number[] = [EXIT.done, EXIT.changes, EXIT.incomplete, EXIT.held, EXIT.error]

/** What of a run decides about the exit code. */
interface Ending extends Pick<RunSummary, 'state' | 'counts'> {
  readonly breaches: readonly Pick<BreachView, 'waitsFor'>[] | null
}

/**
 * The exit code of one finished run: 0 done (a plan: nothing to change), 1 failed, 2 a plan with changes, also when all of them wait or are in quarantine, 3 held, also when
 * only some changes wait for a person, 4 done but some changes wait for a better read, or some entries were quarantined, failed
 * or were missing in the directory.
 */
export function runExitCode(run: Ending): number {
  const waitsFor = new Set(run.breaches?.map((breach) => breach.waitsFor))
  switch (run.state) {
    case 'held':
      return EXIT.held
    case 'planned':
      return total(run.counts?.planned ?? {}) + waitsFor.size + leftBehind(run) > 0 ? EXIT.changes : EXIT.done
    case 'done':
      if (waitsFor.has('person')) return EXIT.held
      return leftBehind(run) > 0 || waitsFor.has('better-read') ? EXIT.incomplete : EXIT.done
    case 'failed':
    case 'waiting':
    case 'reading':
    case 'planning':
    case 'applying':
      return EXIT.error
  }
}

/** The exit code of a command that did several runs: the worst of them. An unknown code is worse than all known ones. */
export function worstExitCode(codes: readonly number[]): number {
  let worst: number = EXIT.done
  for (const code of codes) {
    if (severity(code) > severity(worst)) worst = code
  }
  return worst
}

/** The changes of this run that were not made, and those still in quarantine from an earlier one. */
function leftBehind(run: Pick<RunSummary, 'counts'>): number {
  const { quarantined = 0, failed = 0, missing = 0 } = run.counts?.outcomes ?? {}
  const { quarantined: left = 0, 'does-not-converge': unconverged = 0 } = run.counts?.notices ?? {}
  return quarantined + failed + missing + left + unconverged
}

function severity(code: number): number {
  const index = BY_SEVERITY.indexOf(code)
  return index < 0 ? BY_SEVERITY.length : index
}
