import { DONE, type Ram, type Row, type Write } from './ram.ts'
import type { RunRecord } from './runs.ts'

type Named = Pick<Write | Row, 'op' | 'entry_id'>

function nameOf({ op, entry_id: id }: Named): string {
  return `${op} ${id}`
}

export async function unconverged(ram: Ram, _of: unknown, _ids?: unknown) {
  return writtenTwice(ram).map(({ fingerprint }) => ({ fingerprint, detail: 'was written twice' }))
}

export async function settleWrites(ram: Ram, _of: unknown, wanted: Iterable<string>): Promise<void> {
  const seen = new Set(openWrites(ram).map(({ fingerprint }) => fingerprint))
  for (const print of wanted) seen.delete(print)
  for (const write of ram.recentWrites()) if (seen.has(write.fingerprint)) write.isSettled = true
}

export async function noteMissedCreates(ram: Ram, { run }: RunRecord): Promise<void> {
  const before = ram.runs.findLast(
    (each) => each.run < run && each.mode === 'sync' && each.only_entries === null && each.counts !== null,
  )
  const creates = ram.rowsOf(run).filter(({ op }) => op.startsWith('create-'))
  const wanted = new Set(creates.map(nameOf))
  if (before !== undefined)
    for (const write of ram.recentWrites())
      if (write.run < run && write.run >= before.run && isCreated(write) && wanted.has(nameOf(write)))
        write.isMissed = true
  const missed = new Set(ram.journal.filter(({ isMissed }) => isMissed).map(nameOf))
  for (const create of creates) create.createdBefore ||= missed.has(nameOf(create))
}

export async function settleUndone(ram: Ram, run: number): Promise<void> {
  for (const write of ram.journal) if (write.run === run) write.isSettled = true
}

export async function quarantineUnconverged(
  ram: Ram,
  _of: unknown,
  withheld: readonly string[],
): Promise<void> {
  const some = new Set(withheld)
  for (const { fingerprint, at } of writtenTwice(ram).filter((each) => some.has(each.fingerprint))) {
    for (const write of ram.journal) if (write.fingerprint === fingerprint) write.isSettled = true
    ram.quarantine.set(fingerprint, { code: 'does-not-converge', detail: 'was written twice', at })
  }
}

/** The newest two writes to an entry with one operation, where both did the same. */
function writtenTwice(ram: Ram): readonly Write[] {
  return [...Map.groupBy(openWrites(ram), nameOf).values()].flatMap((writes) => {
    const [before, last] = writes.slice(-2)
    return last !== undefined && before!.fingerprint === last.fingerprint ? [last] : []
  })
}

export function openWrites(ram: Ram): readonly Write[] {
  const open = ram.journal.filter(({ isSettled }) => !isSettled)
  const missed = new Set(open.filter(({ isMissed }) => isMissed).map(nameOf))
  return open.filter((write) => {
    if (!ram.isRecent(write.at)) return false
    if (write.op.startsWith('create-')) return isCreated(write) && missed.has(nameOf(write))
    return write.outcome === 'applied' || (DONE.has(write.outcome) && write.op.startsWith('delete-'))
  })
}

/** Whether the service says of a create that it did it. */
function isCreated({ outcome, status = 0 }: Write): boolean {
  return (
    outcome === 'applied' || outcome === 'found' || (outcome === 'failed' && status >= 200 && status < 300)
  )
}
