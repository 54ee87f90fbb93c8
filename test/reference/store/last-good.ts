import type { Kind } from '../directory/entry.ts'
import type { Options } from '../plan/configuration.ts'
import type { MemberLists, Nesting } from '../plan/evidence/finding.ts'
import type { ServerMemory } from '../plan/server.ts'
import { DONE, type Ram } from './ram.ts'
import type { RunRecord } from './runs.ts'

export interface LastGood {
  readonly users: number
  readonly groups: number
  readonly groupsWithMembers: number | undefined
  readonly nesting: Nesting
  readonly memberLists: MemberLists
  readonly waitingGroups: ReadonlySet<string>
  readonly server: ServerMemory | undefined
}

export async function lastGood(ram: Ram, _sync: string, _target: string): Promise<LastGood | undefined> {
  return ram.good?.good
}

export async function lastOptions(ram: Ram, _sync: string) {
  return ram.good && { run: ram.good.run, options: ram.good.options }
}

export async function directoryAfterLastGood(
  ram: Ram,
  _of: unknown,
): Promise<Record<Kind, number> | undefined> {
  const run = ram.good && ram.run(ram.good.run)
  if (run === undefined || run.counts === null) return undefined
  const done = ram.rowsOf(run.run).filter(({ state }) => DONE.has(state))
  const after = (before: number, kind: Kind) =>
    before +
    done.filter(({ op }) => op === `create-${kind}`).length -
    done.filter(({ op }) => op === `delete-${kind}`).length
  return { user: after(run.counts.directoryUsers, 'user'), group: after(run.counts.directoryGroups, 'group') }
}

export async function storeLastGood(
  ram: Ram,
  { run }: RunRecord,
  good: LastGood,
  options: Options,
): Promise<void> {
  ram.good = { run, good, options }
}

export async function storeServer(ram: Ram, _run: RunRecord, server: ServerMemory): Promise<void> {
  changeGood(ram, { server })
}

export async function addWaitingGroups(ram: Ram, _run: RunRecord, groups: readonly string[]): Promise<void> {
  const before = ram.good?.good.waitingGroups ?? []
  changeGood(ram, { waitingGroups: new Set([...before, ...groups].toSorted()) })
}

function changeGood(ram: Ram, changed: Partial<LastGood>): void {
  if (ram.good !== undefined) ram.good = { ...ram.good, good: { ...ram.good.good, ...changed } }
}
