import { atOnce } from '../../src/base/steps.ts'
import { chosenKeys, decided, PARTS, type Shown as ShownKeys, shownBy } from '../../src/core/decide.ts'
import { withoutExpired } from '../../src/core/ledger.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../src/core/decisions.ts'
import type { States } from '../../src/core/checks/check.ts'
import { UserTable } from '../../src/core/entries/user-table.ts'
import { DirectoryUsers } from '../../src/core/entries/users.ts'
import { all, type Key, keyText, type Sparse, wholeOf } from '../../src/core/keys.ts'
import { idsOf } from '../../src/core/within.ts'
import { SyncOrigin, UndoOrigin } from '../../src/sync/origin.ts'
import { finish, run as runNext } from '../../src/sync/run.ts'
import type { Job, Judged, Outcomes, RunStore } from '../../src/sync/run-store.ts'
import { DONE, Ram, type Row, type Run } from '../reference/store/ram.ts'
import { deletedIdsLastDay, deletedLastDay } from '../reference/store/journal.ts'
import {
  noteMissedCreates,
  openWrites,
  quarantineUnconverged,
  settleUndone,
  settleWrites,
  unconverged,
} from '../reference/store/convergence.ts'
import { doneChanges, laterAttempts, storePlan } from '../reference/store/plans.ts'
import { addUndo } from '../reference/store/part-decisions.ts'
import { addRun, nextWaitingRun } from '../reference/store/runs.ts'
import { reference } from './reference.ts'
import { directoryOf } from './decider.ts'
import { newSource } from './new-form.ts'
import { Crash } from './runner.ts'
import { Service } from './service.ts'
import type { Decides, Step, Story } from './story.ts'

interface Shown {
  readonly origin: string
  readonly undo: Run['undo']
  readonly keys: ShownKeys
}

class NextRam {
  readonly ram = new Ram(reference.core)
  states: States = {}
  readonly ledgers = new Map<string, Ledger>()
  readonly shown = new Map<number, Shown>()

  ledger(origin: string): Ledger {
    return this.ledgers.get(origin) ?? EMPTY_LEDGER
  }
}

export interface StepResult {
  readonly lines: readonly string[]
  readonly after: string
}

/** Plays a story with the run of `src/sync/next`, up to its first undo. */
export async function playNext(story: Story): Promise<readonly StepResult[]> {
  const next = new NextRam()
  const service = new Service(story.service)
  const results: StepResult[] = []
  for (const step of story.steps) {
    const lines: string[] = []
    for (const other of step.others) service.write(other)
    interrupt(next.ram)
    const effective = next.ram.runs.filter(({ run: number }) =>
      next.ram.rowsOf(number).some(({ state }) => state === 'applied' || state === 'found'),
    )
    const undone = step.undo && effective.at(-step.undo.back)
    if (step.undo !== undefined && undone !== undefined) await addUndo(next.ram, undone.run, step.undo.part)
    if (nextWaitingRun(next.ram) === undefined)
      addRun(next.ram, { mode: step.mode, trigger: 'schedule', only_entries: step.only ?? null })
    for (;;) {
      const waiting = nextWaitingRun(next.ram)
      if (waiting === undefined) break
      if (!(await playRun(next, service, step, waiting, lines))) break
    }
    results.push({ lines, after: stateOf(service) })
    for (const each of step.decides) decide(next, each)
    next.ram.now += step.ahead
  }
  return results
}

const sorted = <T>(entries: ReadonlyMap<string, T>) =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)

export function stateOf({ users, groups }: Service): string {
  return JSON.stringify([
    sorted(users).map(({ id, name, email }) => [id, name, email]),
    sorted(groups).map(({ id, name, members }) => [id, name, members.toSorted()]),
  ])
}

function interrupt(ram: Ram): void {
  for (const each of ram.runs.filter(({ isFinished, state }) => !isFinished && state !== 'waiting')) {
    Object.assign(each, { state: 'failed', isFinished: true })
    const { mode, trigger, only_entries, undo } = each
    if (
      !ram.runs.some(
        ({ state, mode: of, only_entries: only }) => state === 'waiting' && of === 'sync' && only === null,
      )
    )
      addRun(ram, { mode, trigger, only_entries, undo })
  }
}

async function playRun(
  next: NextRam,
  service: Service,
  step: Step,
  record: Run,
  lines: string[],
): Promise<boolean> {
  const { ram } = next
  record.state = 'reading'
  const { limits, grace, options, holdMs: expireAfterMs, ...rules } = step.rules
  const only = record.undo === null ? record.only_entries : null
  const job: Job = {
    run: record.run,
    isDry: record.mode === 'plan',
    scope: only === null ? undefined : idsOf(only),
    limits,
    grace,
    options,
  }
  const table = new UserTable()
  const readDirectory = async (_signal: AbortSignal, of: UserTable) =>
    directoryOf(
      service.list(step),
      step,
      { directoryUsers: (it: UserTable) => new DirectoryUsers(it) } as never,
      of as never,
      record.undo === null ? rules.membership : 'write',
    ) as never
  const origin =
    record.undo === null
      ? new SyncOrigin({ source: newSource(step), rules, readDirectory, table, isAsked: false })
      : new UndoOrigin({
          undo: record.undo,
          rules,
          table,
          readDirectory,
          doneChanges: () => doneChanges(ram, record.undo!.run) as never,
          laterAttempts: () => laterAttempts(ram, record.undo!.run),
        })
  let judged: Judged | undefined
  const store: RunStore = {
    quiesce: async () => undefined,
    states: async () => next.states,
    history: async () => ({
      ledger: atOnce(withoutExpired(next.ledger(origin.name), new Date(ram.now), expireAfterMs)),
      now: new Date(ram.now),
      journal: {
        unapproved: await deletedLastDay(ram, undefined),
        deleted: await deletedIdsLastDay(ram, undefined),
      },
      refusals: await refusalsOf(ram),
    }),
    async begin(of, ledger, states) {
      judged = of
      crashIf(step, 'crash-before-keep')
      await keepPlan(next, record, of, origin.name)
      next.ledgers.set(origin.name, ledger)
      next.states = { ...next.states, ...states }
      lines.push(
        ...of.facts.blocks.map(
          ({ code, until, keys }) =>
            `block ${code} ${until} ${foundIn(keys).map(keyText).toSorted().slice(0, 40).join(' ')}`,
        ),
      )
      crashIf(step, 'crash-after-keep')
    },
    async apply(of) {
      ram.now += 1
      return apply(next, service, step, record, of, lines)
    },
    async finish(_of, { ledger, states }) {
      next.ledgers.set(origin.name, await ledger(next.ledger(origin.name)))
      next.states = { ...next.states, ...states }
      Object.assign(record, { state: _of.end, isFinished: true })
    },
  }
  let end: string
  try {
    end = await runNext(job, origin, store, new AbortController().signal)
    record.isFinished = true
    record.state = end as 'done' | 'held' | 'planned'
  } catch (error) {
    const { code } = error as { code?: string }
    if (!(error instanceof Crash) && code === undefined) throw error
    end = error instanceof Crash ? 'crash' : `error ${code}`
    if (!(error instanceof Crash)) {
      if (judged !== undefined)
        await finish(job, origin, store, judged, await outcomesOf(ram, record, judged), {
          code: 'target-unreachable',
          sentence: 'stopped',
        } as never)
      Object.assign(record, { state: 'failed', isFinished: true })
    }
  }
  lines.push(`end ${end}`)
  ram.now += 1
  return end !== 'crash'
}

async function refusalsOf(ram: Ram) {
  const twice = (await unconverged(ram, undefined)).map(({ fingerprint }) => ({
    fingerprint,
    code: 'not-persisted' as const,
  }))
  const recent = [...ram.quarantine]
    .filter(([, { at }]) => ram.isRecent(at))
    .map(([fingerprint, { code }]) => ({
      fingerprint,
      code: code === 'quarantined' ? ('quarantine' as const) : ('not-persisted' as const),
    }))
  const writeOf = (print: string) => ram.journal.findLast(({ fingerprint }) => fingerprint === print)!
  return [...recent, ...twice].map(({ fingerprint: digest, code }) => {
    const { op, entry_id: id } = writeOf(digest)
    return { op, id, digest, code, params: {} } as never
  })
}

async function keepPlan(
  next: NextRam,
  record: Run,
  { facts, plan, end }: Judged,
  origin: string,
): Promise<void> {
  const { ram } = next
  const { decisions } = facts
  const isApproved = (change: { op: string; id: string }) => {
    const kind = change.op.endsWith('user') ? 'user' : 'group'
    if (change.op.startsWith('delete')) return decisions.isApproved(wholeOf([kind, change.id, 'delete']))
    if (change.op === 'set-members')
      return foundIn(facts.left.membersOf(change.id, '-member')).every(decisions.isApproved)
    return false
  }
  const approved = new Set(
    [...plan].filter(({ change }) => isApproved(change)).map(({ fingerprint }) => fingerprint),
  )
  record.counts = {} as never
  if (
    record.mode === 'sync' &&
    record.undo === null &&
    record.only_entries === null &&
    facts.server?.trouble === undefined
  ) {
    const wanted = new Set<string>()
    for (const key of foundIn(all(facts.wanted))) wanted.add(entryOpOf(key))
    const open = openWrites(ram)
    const still = open
      .filter(({ op, entry_id: id }) => wanted.has(`${op} ${id}`))
      .map(({ fingerprint }) => fingerprint)
    await settleWrites(ram, undefined, still)
  }
  if (record.mode === 'plan') return
  if (
    record.only_entries === null &&
    facts.server?.trouble === undefined &&
    facts.wanted.snapshots.source.unreadable === 0
  ) {
    const kept = new Set(
      facts.blocks
        .filter(({ until }) => until === 'service')
        .flatMap(({ keys }) => foundIn(keys).map(([, id]) => id)),
    )
    for (const [print] of ram.quarantine) {
      const id = ram.journal.findLast(({ fingerprint }) => fingerprint === print)?.entry_id ?? ''
      if (!kept.has(id) && ![...plan].some(({ fingerprint }) => fingerprint === print))
        ram.quarantine.delete(print)
    }
  }
  const refused = facts.blocks
    .filter(({ code }) => code === 'not-persisted')
    .flatMap(({ keys }) => foundIn(keys))
  if (refused.length > 0) {
    const prints = (await refusalsOf(ram)) as readonly { digest: string; id: string }[]
    await quarantineUnconverged(
      ram,
      undefined,
      prints.filter(({ id }) => refused.some(([, of]) => of === id)).map(({ digest }) => digest),
    )
  }
  await storePlan({ write: async (f: any) => f(ram, record) } as never, { changes: plan as never }, approved)
  if (
    record.only_entries === null &&
    end === 'done' &&
    [...plan].some(({ change }) => change.op.startsWith('create'))
  )
    await noteMissedCreates(ram, record)
  if (record.undo !== null && end === 'done') await settleUndone(ram, record.undo.run)
  const { codes, waiting } = atOnce(shownBy(facts, next.ledger(origin)))
  next.shown.set(record.run, { origin, undo: record.undo, keys: { codes, waiting: foundIn(waiting) } })
}

function foundIn(keys: Sparse<Key>): readonly Key[] {
  return [...keys].filter((key) => key !== undefined)
}

function entryOpOf([kind, id, field]: Key): string {
  const op =
    field === 'create'
      ? 'create'
      : field === 'delete' || field === 'leave'
        ? 'delete'
        : field.endsWith('member')
          ? 'set-members'
          : 'update'
  return op === 'set-members' ? `set-members ${id}` : `${op}-${kind} ${id}`
}

function crashIf({ ends }: Step, when: Step['ends']): void {
  if (ends === when) throw new Crash()
}

async function apply(
  next: NextRam,
  service: Service,
  step: Step,
  record: Run,
  judged: Judged,
  lines: string[],
): Promise<Outcomes> {
  const { ram } = next
  const rows = ram.rowsOf(record.run)
  const isWhole = !step.ends.endsWith('-in-apply')
  const sent = isWhole ? rows : rows.slice(0, Math.ceil(rows.length / 2))
  for (const row of sent) {
    const outcome = service.send(row.change, step.fates.get(row.entry_id))
    lines.push(
      `send ${row.op} ${row.entry_id} ${JSON.stringify('want' in row.change ? row.change.want : '')}`,
    )
    const isLost = step.ends === 'crash-in-apply' && row === sent.at(-1)
    recordOf(ram, record, row, isLost ? { state: 'unknown', status: undefined } : outcome)
  }
  crashIf(step, 'crash-in-apply')
  if (step.ends === 'error-in-apply')
    throw Object.assign(new Error('stopped'), { code: 'target-unreachable' })
  return outcomesOf(ram, record, judged)
}

async function outcomesOf(ram: Ram, record: Run, { facts }: Judged): Promise<Outcomes> {
  const rows = ram.rowsOf(record.run)
  const done = rows.filter(({ state }) => DONE.has(state))
  const deleted = { user: new Set<string>(), group: new Set<string>() }
  for (const { op, entry_id: id } of done) if (op.startsWith('delete')) deleted[op.slice(7) as 'user'].add(id)
  const keys = done.flatMap(({ op, entry_id: id }): Key[] => {
    const kind = op.endsWith('user') ? 'user' : 'group'
    if (op.startsWith('delete')) return [[kind, id, 'delete']]
    const own = [...facts.wanted.keysOf(kind, id)].filter((key) => facts.left.has(key))
    return own.filter(([, , field]) => (op === 'set-members') === field.endsWith('member'))
  })
  const there = rows.filter(({ op, wasThere }) => op.startsWith('create') && wasThere).length
  const creates = rows.filter(({ op }) => op.startsWith('create')).length
  const { users, groups } = facts.wanted.snapshots.directory
  const isWhole = !(there > 2 && there * 100 > users.size + groups.size + creates)
  return { done: keys, deleted, isWhole }
}

function recordOf(
  ram: Ram,
  { run: number }: Run,
  row: Row,
  { state, status }: { state: Row['state']; status: number | undefined },
): void {
  row.state = state
  row.wasThere = state === 'found' && !row.createdBefore && !row.unsure
  if (state === 'unknown') row.unsure = true
  const { op, entry_id, fingerprint, removes, approved } = row
  const outcome = state === 'pending' ? 'failed' : state
  ram.journal.push({
    run: number,
    op,
    entry_id,
    fingerprint,
    removes,
    approved,
    at: ram.now,
    outcome,
    status,
    isSettled: false,
    isMissed: false,
  })
  if (state === 'quarantined')
    ram.quarantine.set(fingerprint, { code: 'quarantined', detail: 'was refused', at: ram.now })
}

function decide(next: NextRam, decides: Decides): void {
  const at = new Date(next.ram.now)
  const newest = [...next.shown].findLast(([, { origin, keys }]) => {
    const decisions = new Decisions(next.ledger(origin))
    return [...keys.codes.keys()].some((text) => decisions.isOpen(text))
  })
  if (newest === undefined) return
  const [number, { keys, origin, undo }] = newest
  const part = decides.does === 'approve-part' ? decides.part : undefined
  const codes = [...new Set([...keys.codes.values()].flatMap((of) => [...of]))].toSorted()
  const isOfCode = decides.does !== 'approve-part' && decides.only !== undefined
  const selection = {
    ids: part?.ids,
    only: part && (part.names ?? PARTS),
    code: isOfCode ? codes[(decides.only ?? 0) % codes.length] : undefined,
  }
  const decision = {
    does: decides.does === 'reject' ? 'reject' : 'approve',
    run: number,
    by: 'ana',
    at,
    reason: '',
    selection,
  } as const
  const before = next.ledger(origin)
  const found = atOnce(chosenKeys(before, decision, keys))
  const isOfKind = (text: string): boolean => part?.kinds?.includes((JSON.parse(text) as Key)[0]) ?? true
  const chosen = new Map([...found].filter(([text]) => isOfKind(text)))
  next.ledgers.set(origin, atOnce(decided(before, decision, chosen)))
  if (chosen.size > 0) addRun(next.ram, { mode: 'sync', trigger: 'approval', undo })
}
