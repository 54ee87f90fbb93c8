import { blockText } from '../../src/ui/messages/blocks.ts'
import type { DirectoryContent } from '../support/read-service.ts'
import { type Company, isOutsider } from './company-history.ts'
import type { RunDetails } from './daemon-client.ts'
import type { SyncResult } from './run-schedule.ts'
import type { Version, World } from './world.ts'
import { isDone, type Write } from './write-history.ts'

/** Something that must not happen. `check` names the rule. */
export interface Violation {
  readonly check: string
  readonly detail: string
}

/** What a schedule left. */
export interface Evidence {
  readonly world: World
  /** What was wrong when no run ended well in time. */
  readonly stuck: Violation | undefined
  /** The sync after the one that ended well. */
  readonly second: SyncResult | undefined
  readonly ended: number
  readonly directory: DirectoryContent
  readonly runs: readonly RunDetails[]
  readonly logs: readonly { readonly path: string; readonly text: string }[]
}

export function checkAll(evidence: Evidence): readonly Violation[] {
  const { stuck } = evidence
  return [
    ...(stuck === undefined ? [] : [stuck]),
    ...(stuck === undefined ? checkDirectory(evidence) : []),
    ...checkSecondRun(evidence),
    ...checkDeletes(evidence),
    ...checkTwice(evidence),
    ...checkStale(evidence),
    ...checkCounts(evidence),
    ...checkReports(evidence),
    ...checkLogs(evidence),
    ...checkBlocks(evidence),
  ]
}

const MOST_NAMED = 5

function violations(check: string, details: readonly string[]): Violation[] {
  if (details.length === 0) return []
  const more = details.length > MOST_NAMED ? `; and ${details.length - MOST_NAMED} more` : ''
  return [{ check, detail: details.slice(0, MOST_NAMED).join('; ') + more }]
}

/** What the directory must be for this source. */
function mapped({ users, groups }: Company): { users: Map<string, string>; groups: Map<string, string> } {
  const insiders = [...users].filter(([, person]) => !isOutsider(person))
  return {
    users: new Map(insiders.map(([id, { name, email }]) => [id, JSON.stringify([name, email ?? null])])),
    groups: new Map(
      [...groups].map(([id, { name, members }]) => [id, JSON.stringify([name, [...members].toSorted()])]),
    ),
  }
}

function checkDirectory({ world, directory }: Evidence): Violation[] {
  const want = mapped(world.versions.at(-1)!.company)
  const have = {
    users: new Map([...directory.users].map(([id, { name, email }]) => [id, JSON.stringify([name, email])])),
    groups: new Map(
      [...directory.groups].map(([id, { name, members }]) => [id, JSON.stringify([name, members])]),
    ),
  }
  const wrong: string[] = []
  for (const kind of ['users', 'groups'] as const) {
    for (const id of new Set([...want[kind].keys(), ...have[kind].keys()])) {
      const [is, should] = [have[kind].get(id), want[kind].get(id)]
      if (is !== should) wrong.push(`${kind} ${id} is ${is ?? 'absent'}, not ${should ?? 'absent'}`)
    }
  }
  for (const id of directory.duplicates) wrong.push(`${id} is there twice`)
  return violations('directory', wrong)
}

/** A second run finds nothing to do, and accounts for every entry of the source. */
function checkSecondRun({ world, second }: Evidence): Violation[] {
  if (second === undefined) return []
  const { code, run, stderr } = second
  const { counts } = run ?? {}
  if (code !== 0 || run?.state !== 'done' || counts === null || counts === undefined) {
    return violations('second-run', [`it ended with ${code}, ${run?.state} ${run?.error ?? stderr}`])
  }
  const wrong: string[] = []
  if (Object.keys(counts.planned).length > 0) wrong.push(`it planned ${JSON.stringify(counts.planned)}`)
  const { users, groups } = world.versions.at(-1)!.company
  const outsiders = [...users.values()].filter(isOutsider).length
  const skipped = counts.notices['email-not-allowed'] ?? 0
  if (skipped !== outsiders) wrong.push(`${skipped} users are skipped, not ${outsiders}`)
  if (counts.sourceUsers !== users.size)
    wrong.push(`the source has ${users.size} users, not ${counts.sourceUsers}`)
  const accounted = counts.unchanged + skipped
  const all = users.size + groups.size
  if (accounted !== all) wrong.push(`${accounted} entries are accounted for, not ${all}`)
  return violations('second-run', wrong)
}

/** Nobody is deleted who was in the source all the time. */
function checkDeletes({ world }: Evidence): Violation[] {
  const { versions, writes } = world
  const always = (kind: Write['kind'], id: string) =>
    versions.every(({ company }) => entriesOf(company, kind).has(id))
  const wrong = writes.filter(
    (write) => !write.outside && write.op === 'delete' && isDone(write) && always(write.kind, write.id),
  )
  return violations(
    'wrong-delete',
    wrong.map(({ kind, id }) => `${kind} ${id} was deleted`),
  )
}

function entriesOf({ users, groups }: Company, kind: Write['kind']): ReadonlyMap<string, object> {
  return kind === 'user' ? users : groups
}

/** No id is created twice, and no write is done a second time with nothing between that undid it. */
function checkTwice({ world }: Evidence): Violation[] {
  const wrong: string[] = []
  const last = new Map<string, Write>()
  for (const write of world.writes.filter(isDone)) {
    const key = `${write.kind} ${write.id}`
    const before = last.get(key)
    const who = write.outside ? 'somebody else' : 'dirsyncd'
    const isThere = before === undefined ? world.before.has(key) : before.op !== 'delete'
    if (write.op === 'create' && isThere) wrong.push(`${who} created ${key} twice`)
    if (write.op === 'delete' && before?.op === 'delete') wrong.push(`${who} deleted ${key} twice`)
    if (write.op === 'update' && before?.op === 'update' && isSame(before, write)) {
      wrong.push(`${who} made the same update of ${key} twice, within ${write.at - before.at} ms`)
    }
    last.set(key, write)
    // The service takes whom it deletes out of the groups.
    if (write.op === 'delete' && write.kind === 'user') forgetGroupsWith(write.id, last)
  }
  return violations('done-twice', wrong)
}

function isSame(one: Write, other: Write): boolean {
  return (
    one.name === other.name &&
    one.email === other.email &&
    one.members?.join('\n') === other.members?.join('\n')
  )
}

function forgetGroupsWith(user: string, last: Map<string, Write>): void {
  for (const [key, { kind, members }] of last) {
    if (kind === 'group' && members?.includes(user) === true) last.delete(key)
  }
}

/** After a run has begun to read the directory, nothing arrives that only an older state of the source explains. */
function checkStale({ world, runs }: Evidence): Violation[] {
  if (stepsTheClockOfRuns(world)) return []
  const { versions, writes, lists } = world
  const reads = runs.flatMap(({ run, startedAt }) => {
    const at = startedAt === null ? undefined : lists.find((list) => list > Date.parse(startedAt))
    return at === undefined ? [] : [{ run, at, since: currentAt(versions, Date.parse(startedAt!)) }]
  })
  const wrong: string[] = []
  for (const write of writes) {
    if (write.outside || !isDone(write)) continue
    const read = reads.findLast(({ at }) => at <= write.since)
    if (read === undefined) continue
    const newer = versions.slice(read.since).filter(({ begun }) => begun <= write.at)
    const older = versions.slice(0, read.since)
    const why = onlyOlder(write, newer, older)
    if (why !== undefined)
      wrong.push(`${write.kind} ${write.id} ${why} after run ${read.run} had begun to read`)
  }
  return violations('stale-write', wrong)
}

/** The embedded store has the clock of the daemon, so its times say nothing when that is stepped. */
function stepsTheClockOfRuns({ schedule }: World): boolean {
  return schedule.backend === 'embedded' && schedule.faults.some(({ kind }) => kind === 'clock')
}

/** The place of the newest version that the source had wholly at this time. */
function currentAt(versions: readonly Version[], time: number): number {
  return versions.findLastIndex(({ ended }) => ended <= time)
}

function inVersions(versions: readonly Version[], test: (company: Company) => boolean): boolean {
  return versions.some(({ company }) => test(company))
}

/** Why only an older version explains the write. */
function onlyOlder(write: Write, newer: readonly Version[], older: readonly Version[]): string | undefined {
  const has = (company: Company) => entriesOf(company, write.kind).has(write.id)
  if (write.op === 'delete') {
    return inVersions(newer, (company) => !has(company)) ? undefined : 'was deleted'
  }
  if (!inVersions(newer, has))
    return inVersions(older, has) ? `was ${write.op}d although it is gone` : undefined
  const { name } = write
  if (name === undefined) return undefined
  const named = (company: Company) => {
    return (entriesOf(company, write.kind).get(write.id) as { name: string } | undefined)?.name === name
  }
  return !inVersions(newer, named) && inVersions(older, named) ? `got the older name "${name}"` : undefined
}

/** What a run says that it read is what the source had at some time of it. */
function checkCounts({ world, runs }: Evidence): Violation[] {
  if (stepsTheClockOfRuns(world)) return []
  const hides = world.schedule.faults.some((fault) => fault.kind === 'ldap' && fault.trouble === 'hide')
  const wrong: string[] = []
  for (const { run, state, counts, startedAt, finishedAt } of runs) {
    if (counts === null || startedAt === null || finishedAt === null || hides || state === 'failed') continue
    const [from, to] = [Date.parse(startedAt), Date.parse(finishedAt)]
    // An LDAP server has a mixture of two versions while it is changed.
    const isMixed = world.versions.some(({ begun, ended }) => begun < to && ended > from)
    const seen = world.versions.slice(currentAt(world.versions, from)).filter(({ begun }) => begun <= to)
    const fits = seen.some(({ company }) => company.users.size === counts.sourceUsers)
    if (!isMixed && !fits) wrong.push(`run ${run} is ${state} and read ${counts.sourceUsers} users`)
  }
  return violations('short-read', wrong)
}

const OPS: Readonly<Record<string, { readonly kind: Write['kind']; readonly ops: readonly Write['op'][] }>> =
  {
    'create-user': { kind: 'user', ops: ['create', 'update'] },
    'update-user': { kind: 'user', ops: ['update'] },
    'delete-user': { kind: 'user', ops: ['delete'] },
    'create-group': { kind: 'group', ops: ['create', 'update'] },
    'update-group': { kind: 'group', ops: ['update'] },
    'set-members': { kind: 'group', ops: ['update'] },
    'delete-group': { kind: 'group', ops: ['delete'] },
  }

/** A change that a run reports as applied is one that the service has done in the time of the run. */
function checkReports({ world, runs }: Evidence): Violation[] {
  if (stepsTheClockOfRuns(world)) return []
  const done = Map.groupBy(world.writes.filter(isDone), ({ kind, id }) => `${kind} ${id}`)
  const wrong: string[] = []
  for (const { run, changes, startedAt, finishedAt } of runs) {
    if (startedAt === null) continue
    const from = Date.parse(startedAt) - 100
    const to = finishedAt === null ? Number.POSITIVE_INFINITY : Date.parse(finishedAt) + 100
    for (const { change, state } of changes) {
      const wanted = OPS[change.op]
      if (state !== 'applied' || wanted === undefined) continue
      const writes = done.get(`${wanted.kind} ${change.id}`) ?? []
      const isTrue = writes.some(({ op, at }) => wanted.ops.includes(op) && at >= from && at <= to)
      if (!isTrue)
        wrong.push(`run ${run} says ${change.op} ${change.id} is applied, and the service never did it`)
    }
  }
  return violations('untrue-report', wrong)
}

const BAD_LOG = /^\s+at .+:\d+:\d+\)?$|"stack":|"code":"internal"|internal error|[Uu]nhandled/m

function checkLogs({ world, logs }: Evidence): Violation[] {
  const wrong: string[] = []
  for (const { path, text } of logs) {
    const line = text.split('\n').find((each) => BAD_LOG.test(each))
    if (line !== undefined) wrong.push(`${path}: ${line.trim()}`)
  }
  for (const { exits } of world.processes.values()) {
    // Without its store a process cannot start, and says so with 1.
    for (const exit of exits) if (!exit.endsWith(' with 1')) wrong.push(exit)
  }
  return violations('log', wrong)
}

/** End with a later read; an edit between the read and the recheck makes them, or a part of the LDAP that is hidden. */
const PASSING = new Set(['removals-not-confirmed', 'seen-again'])

/** The guards allow everything, and nothing in these sources is suspicious. */
function checkBlocks({ runs }: Evidence): Violation[] {
  const wrong: string[] = []
  for (const { run, state, blocks } of runs) {
    const lasting = blocks.filter(({ code }) => !PASSING.has(code))
    if (state !== 'held' && lasting.length === 0) continue
    wrong.push(`run ${run}: ${lasting.map((block) => `${block.code}: ${blockText(block)}`).join(', ')}`)
  }
  return violations('blocked', wrong)
}
