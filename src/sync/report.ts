import { forEachInSteps, type Steps } from '../base/steps.ts'
import { unchangedIn } from '../core/diff/unchanged.ts'
import type { Notice, NoticeCode } from '../core/notice.ts'
import { type Op, OPS } from '../core/plan/change.ts'
import type { ReadEvidence, RunCounts, StoredBlock } from '../store/run-types.ts'
import type { Judged } from './run-store.ts'

/** Without outcomes, until the plan is applied. */
export function* countRun({ facts, plan, blocked, notices }: Judged): Steps<RunCounts> {
  const { source, directory } = facts.wanted.snapshots
  const { asking, rejected, lastRejection } = blocked
  return {
    sourceUsers: source.seen.user.size,
    sourceGroups: source.seen.group.size,
    directoryUsers: directory.users.size,
    directoryGroups: directory.groups.size,
    unchanged: yield* unchangedIn(facts.wanted),
    planned: countsOf(plan),
    blocked: countsOf(blocked),
    asking,
    rejected,
    lastRejection,
    outcomes: {},
    notices: yield* noticesBy(notices),
  }
}

/** The counts at the end of a run, with the notices of applying it. */
export function countsAtEnd(
  counts: RunCounts,
  applying: readonly Notice[],
  outcomes: RunCounts['outcomes'],
): RunCounts {
  const notices = { ...counts.notices }
  for (const { code } of applying) notices[code] = (notices[code] ?? 0) + 1
  return { ...counts, notices, outcomes }
}

/** The blocks with what operators are told of them. A block that names nothing that is shown is left out by its count. */
export function storedBlocks({ facts, blocked }: Judged): readonly StoredBlock[] {
  return facts.blocks.map(
    ({ code, params, until, stops, asks }, place) =>
      // The parameters are those of the code.
      ({
        code,
        params,
        until,
        stops: stops === 'plan',
        asks: asks ?? null,
        changes: blocked.named[place]!,
      }) as StoredBlock,
  )
}

export function evidenceIn({ facts, blocked }: Judged): ReadEvidence {
  const { wanted, server, blocks } = facts
  const { source, directory } = wanted.snapshots
  const again = blocks.findIndex(({ code }) => code === 'seen-again')
  return {
    server: server?.state ?? null,
    unreadable: source.unreadable,
    absent: { user: wanted.absent.user.size, group: wanted.absent.group.size },
    seenAgain: again < 0 ? 0 : blocked.named[again]!,
    directoryMoved: directory.moved,
  }
}

function countsOf(changes: { readonly countOf: (op: Op) => number }): Partial<Record<Op, number>> {
  const used = OPS.filter((op) => changes.countOf(op) > 0)
  return Object.fromEntries(used.map((op) => [op, changes.countOf(op)]))
}

function* noticesBy(notices: readonly Notice[]): Steps<Partial<Record<NoticeCode, number>>> {
  const counts: Partial<Record<NoticeCode, number>> = {}
  yield* forEachInSteps(notices, ({ code }) => (counts[code] = (counts[code] ?? 0) + 1))
  return counts
}
