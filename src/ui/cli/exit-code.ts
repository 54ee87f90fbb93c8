import type { BreachView, RunSummary } from '../../operations/control.ts'
import { digits } from '../../base/wording.ts'
import { total } from '../../operations/total.ts'

/** The exit codes of commands that ran to their end; those of errors are in `errors.ts`. */
export const EXIT = { done: 0, error: 1, changes: 2, held: 3, incomplete: 4 } as const

/** From the least bad to the worst. */
const BY_SEVERITY: readonly number[] = [EXIT.done, EXIT.changes, EXIT.incomplete, EXIT.held, EXIT.error]

/** What of a run decides about the exit code. */
interface Ending extends Pick<RunSummary, 'state' | 'counts'>, Partial<Pick<RunSummary, 'undo'>> {
  readonly breaches: readonly Pick<BreachView, 'waitsFor'>[] | null
}

/**
 * The exit code of one finished run: 0 done (a plan: nothing to change), 1 failed, or asked for an id that is on
 * neither side, 2 a plan with changes, also when all of them wait or are in quarantine, or entries share an external id,
 * 3 held, also when only some changes wait for a person, 4 done but some changes wait for a better read, also for one
 * without unreadable entries, or some entries were quarantined, failed, were missing in the directory or share an
 * external id there, or the directory's list was incomplete.
 */
export function runExitCode(run: Ending): number {
  if ((run.counts?.notices['unknown-id'] ?? 0) > 0) return EXIT.error
  const waitsFor = new Set(run.breaches?.map((breach) => breach.waitsFor))
  switch (run.state) {
    case 'held':
      return EXIT.held
    case 'planned':
      return total(run.counts?.planned ?? {}) + waitsFor.size + leftBehind(run).length > 0
        ? EXIT.changes
        : EXIT.done
    case 'done':
      if (waitsFor.has('person')) return EXIT.held
      return leftBehind(run).length > 0 || waitsFor.has('better-read') ? EXIT.incomplete : EXIT.done
    case 'failed':
    case 'waiting':
    case 'reading':
    case 'planning':
    case 'applying':
      return EXIT.error
  }
}

/**
 * The exit code of a command that did several runs: the worst of them. An unknown code is worse than all known ones.
 */
export function worstExitCode(codes: readonly number[]): number {
  let worst: number = EXIT.done
  for (const code of codes) {
    if (severity(code) > severity(worst)) worst = code
  }
  return worst
}

const LEFT_STATES = ['quarantined', 'failed', 'missing'] as const
const LEFT_NOTICES = [
  'kept-unproved',
  'quarantined',
  'does-not-converge',
  'shared-id',
  'directory-incomplete',
  'changed-since',
  'not-restored',
] as const

/**
 * What this run did not do, or left alone although the directory differs, by the state of the change or the code of the
 * notice: `2 quarantined`.
 */
export function leftBehind({
  counts,
  undo = null,
}: Pick<RunSummary, 'counts'> & Partial<Pick<RunSummary, 'undo'>>): readonly string[] {
  const left = new Map<string, number>()
  const add = (what: string, count = 0) => count > 0 && left.set(what, count + (left.get(what) ?? 0))
  for (const state of LEFT_STATES) add(state, counts?.outcomes[state])
  for (const code of LEFT_NOTICES) add(code, counts?.notices[code])
  // Who came back without an e-mail, or must not be deleted, is not as before.
  if (undo !== null)
    for (const code of ['duplicate-email', 'protected'] as const) add(code, counts?.notices[code])
  return [...left].map(([what, count]) => `${digits(count)} ${what}`)
}

function severity(code: number): number {
  const index = BY_SEVERITY.indexOf(code)
  return index < 0 ? BY_SEVERITY.length : index
}
