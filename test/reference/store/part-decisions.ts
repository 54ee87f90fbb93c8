import type { Breach } from '../plan/guards.ts'
import type { Part } from '../plan/part/part.ts'
import { putDecision } from './decisions.ts'
import { approveForms, takeBackApprovals } from './forget-decisions.ts'
import { isExpired } from './holds.ts'
import { outcomesAtEnd } from './plans.ts'
import type { Ram, Row, Run } from './ram.ts'
import { addRun, endWaitingRuns } from './runs.ts'

export async function leftOutOf(ram: Ram, _of: unknown): Promise<Breach | undefined> {
  const left = [...ram.decisions].filter(([, { decision }]) => decision === 'left-out')
  const [last] = left.map(([, decided]) => decided).toSorted((a, b) => b.run - a.run)
  return (
    last &&
    ram.core.leftOut(
      left.map(([print]) => print),
      last.by,
      last.run,
    )
  )
}

/** What `dirsyncd approve --kind` and the like do. Returns whether the run takes this decision. */
export function approvePart(ram: Ram, number: number, { by, part }: { by: string; part: Part }): boolean {
  const run = ram.run(number)
  const isOpen = run.hold === 'open'
  if (
    run.undo !== null ||
    run.state !== 'held' ||
    !(isOpen || run.hold === 'rejected') ||
    isExpired(ram, run)
  )
    return false
  const isInPart = partTest(ram, part)
  const isRejected = ({ fingerprint }: Row) => ram.decisions.get(fingerprint)?.decision === 'rejected'
  const isNamed = (row: Row) => isInPart(row) && (isOpen || isRejected(row))
  const rows = ram.rowsOf(number)
  if (unknownIds(ram, run, part, isNamed).length > 0) return false
  const prints = new Set(rows.filter(isNamed).map(({ fingerprint }) => fingerprint))
  const named = [...prints].filter((print) =>
    putDecision(ram, print, { decision: 'approved', run: number, by }),
  )
  approveForms(ram, number, named, by)
  if (named.length + (isOpen ? countMemberships(ram, number, part) : 0) === 0) return false
  if (isOpen)
    leaveOut(
      ram,
      rows.filter((row) => !isNamed(row)),
      { run: number, by },
    )
  run.decisions = [...run.decisions, { decision: 'approved', by, part }]
  addRun(ram, { mode: 'sync', trigger: 'approval', approval_of: number, part })
  if (isOpen) addRun(ram, { mode: 'sync', trigger: 'approval', approval_of: number })
  return true
}

function partTest(ram: Ram, part: Part): (row: Row) => boolean {
  const ops = new Set<string>(ram.core.opsOfPart(part))
  return ({ op, entry_id: id }) => ops.has(op) && (part.ids?.includes(id) ?? true)
}

function hasMembers(ram: Ram, part: Part): boolean {
  return ram.core.opsOfPart(part).includes('set-members')
}

/** Which ids of a part have no change in it, neither their own nor, in an open hold, of a membership. */
function unknownIds(
  ram: Ram,
  { run, hold }: Run,
  part: Part,
  isNamed: (row: Row) => boolean,
): readonly string[] {
  const known = new Set(ram.rowsOf(run).flatMap((row) => (isNamed(row) ? [row.entry_id] : [])))
  if (hold === 'open' && hasMembers(ram, part))
    for (const { change } of ram.rowsOf(run))
      if (change.op === 'set-members')
        for (const id of new Set(change.want).symmetricDifference(new Set(change.have))) known.add(id)
  return (part.ids ?? []).filter((id) => !known.has(id))
}

function countMemberships(ram: Ram, run: number, part: Part): number {
  const { ids } = part
  if (ids === undefined || !hasMembers(ram, part)) return 0
  return ram
    .rowsOf(run)
    .filter(
      ({ change }) =>
        change.op === 'set-members' && ids.some((id) => change.want.includes(id) || change.have.includes(id)),
    ).length
}

function leaveOut(ram: Ram, rows: readonly Row[], { run, by }: { run: number; by: string }): void {
  for (const print of rows.flatMap(({ fingerprint, wish }) => [fingerprint, wish]))
    if (print !== undefined && ram.decisions.get(print)?.decision !== 'approved')
      ram.decisions.set(print, { decision: 'left-out', run, by })
}

/** What `dirsyncd undo` does. Returns whether the run can be undone. */
export async function addUndo(ram: Ram, number: number, part: Part): Promise<boolean> {
  const run = ram.run(number)
  const { applied = 0, found = 0, unknown = 0 } = await outcomesAtEnd(ram, number)
  const hasChanged = run.counts !== null && run.mode === 'sync' && run.state !== 'held'
  if (!run.isFinished || !hasChanged || applied + found + unknown === 0) return false
  if (!ram.rowsOf(number).some(partTest(ram, part)) && countMemberships(ram, number, part) === 0)
    if (!endsMemberships(ram, number, part)) return false
  endWaitingRuns(ram)
  takeBackApprovals(ram, run)
  addRun(ram, { mode: 'sync', trigger: 'demand', undo: { run: number, part } })
  return true
}

/** Whether deletes of the run ended memberships that the part names: no change of members says so. */
function endsMemberships(ram: Ram, run: number, part: Part): boolean {
  if (!hasMembers(ram, part)) return false
  return ram.rowsOf(run).some(({ change }) => {
    if (change.op !== 'delete-user' && change.op !== 'delete-group') return false
    const others = change.op === 'delete-user' ? change.have.groups : change.have.members
    return part.ids === undefined
      ? others!.length > 0
      : part.ids.some((id) => id === change.id || others!.includes(id))
  })
}
