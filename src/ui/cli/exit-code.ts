import type { BreachView, RunSummary } from '../../operations/control.ts'
import { digits } from '../../base/wording.ts'
import { total } from '../../operations/total.ts'

/** Exit codes of commands that ran to their end; those of errors are in `errors.ts`. */
export const EXIT = { done: 0, error: 1, changes: 2, held: 3, incomplete: 4 } as const

/** From the least to the most severe. */
const BY_SEVERITY: readonly number[] = [EXIT.done, EXIT.changes, EXIT.incomplete, EXIT.held, EXIT.error]

interface Ending extends Pick<RunSummary, 'state' | 'counts'>, Partial<Pick<RunSummary, 'undo'>> {
  readonly breaches: readonly Pick<BreachView, 'waitsFor'>[] | null
}

/**
 * - 0: done; a plan: nothing to change
 * - 1: failed, or source and directory both lack the requested id
 * - 2: a plan with changes, also if all are blocked or in quarantine, or entries share an external id
 * - 3: held, also if only some changes need approval
 * - 4: done, but some changes need a better read; entries were unreadable, quarantined, failed, missing in the directory
 *   or share an external id there; or the directory's list was incomplete
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

/** The worst code. An unknown code is worse than all known ones. */
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

/** What this run did not do although the directory differs, by change state or notice code: `2 quarantined`. */
export function leftBehind({
  counts,
  undo = null,
}: Pick<RunSummary, 'counts'> & Partial<Pick<RunSummary, 'undo'>>): readonly string[] {
  const left = new Map<string, number>()
  const add = (what: string, count = 0) => count > 0 && left.set(what, count + (left.get(what) ?? 0))
  for (const state of LEFT_STATES) add(state, counts?.outcomes[state])
  for (const code of LEFT_NOTICES) add(code, counts?.notices[code])
  // A restored user without the e-mail, or a protected user, differs from before.
  if (undo !== null)
    for (const code of ['duplicate-email', 'protected'] as const) add(code, counts?.notices[code])
  return [...left].map(([what, count]) => `${digits(count)} ${what}`)
}

function severity(code: number): number {
  const index = BY_SEVERITY.indexOf(code)
  return index < 0 ? BY_SEVERITY.length : index
}
