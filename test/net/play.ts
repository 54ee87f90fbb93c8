import type { Notice } from '../reference/directory/snapshot.ts'
import type { Breach } from '../reference/plan/guards.ts'
import { decide } from '../reference/store/decisions.ts'
import { openHold } from '../reference/store/holds.ts'
import { addUndo, approvePart } from '../reference/store/part-decisions.ts'
import { Ram, type Row, type Run } from '../reference/store/ram.ts'
import { addRun, interruptRuns, nextWaitingRun } from '../reference/store/runs.ts'
import { type Decider, directoryOf, type Kept } from './decider.ts'
import { nameOf } from './names.ts'
import { Crash } from './runner.ts'
import { stateOf } from './next.ts'
import { Service } from './service.ts'
import type { Decides, Step, Story } from './story.ts'

/** Plays a story with a decider: what each step says, and how it leaves the service. */
export async function playSteps(story: Story, decider: Decider) {
  const stage = { ram: new Ram(decider.core), service: new Service(story.service), decider }
  const steps: { lines: string[]; after: string }[] = []
  for (const step of story.steps) {
    const lines: string[] = []
    await beginStep(stage, step)
    for (;;) {
      const waiting = nextWaitingRun(stage.ram)
      if (waiting === undefined) break
      if (!(await playRun(stage, step, waiting, lines))) break
    }
    steps.push({ lines, after: stateOf(stage.service) })
    for (const each of step.decides) await takeDecision(stage.ram, each)
    stage.ram.now += step.ahead
  }
  return steps
}

interface Stage {
  readonly ram: Ram
  readonly service: Service
  readonly decider: Decider
}

async function beginStep({ ram, service }: Stage, { others, undo, only, mode }: Step): Promise<void> {
  for (const other of others) service.write(other)
  await interruptRuns(ram)
  const effective = ram.runs.filter(({ run }) =>
    ram.rowsOf(run).some(({ state }) => state === 'applied' || state === 'found'),
  )
  const undone = undo && effective.at(-undo.back)
  if (undo !== undefined && undone !== undefined) await addUndo(ram, undone.run, undo.part)
  if (nextWaitingRun(ram) === undefined)
    addRun(ram, { mode, trigger: 'schedule', only_entries: only ?? null })
}

/** Returns false where the process of the run ended. */
async function playRun(stage: Stage, step: Step, run: Run, lines: string[]): Promise<boolean> {
  const { ram, service, decider } = stage
  run.state = 'reading'
  lines.push(titleOf(run))
  const end = await decider
    .run(ram, run.run, step, {
      source: decider.sourceOf(step),
      readDirectory: async (_signal, table, membership) =>
        directoryOf(service.list(step), step, decider, table, membership),
      beforeKeep: () => crashIf(step, 'crash-before-keep'),
      afterKeep: (kept) => {
        lines.push(...keptLines(kept, ram.rowsOf(run.run)))
        crashIf(step, 'crash-after-keep')
      },
      apply: () => applyRun(stage, step, run, lines),
    })
    .catch((error: unknown) => error as Error & { code?: string })
  lines.push(...noticeLines(ram.notices.get(run.run) ?? []), `end ${endOf(end)}`)
  ram.now += 1
  return !(end instanceof Crash)
}

/** @param undone the place of the undone run among the runs of the world */
function titleOf(
  {
    mode,
    trigger,
    only_entries: only,
    part,
    undo,
  }: Pick<Run, 'mode' | 'trigger' | 'only_entries' | 'part' | 'undo'>,
  undone = undo?.run,
): string {
  if (undo !== null) return `run ${mode} ${trigger} undo of ${undone} ${namesOf(undo.part)}`
  if (part !== null) return `run ${mode} ${trigger} part ${namesOf(part)}`
  return `run ${mode} ${trigger}${only === null ? '' : ` only ${namesOf(only)}`}`
}

function namesOf(some: object): string {
  const named = Object.entries(some as Record<string, readonly string[]>).toSorted()
  return named.map(([field, names]) => `${field} ${names.join(' ')}`).join(', ')
}

function endOf(end: string | (Error & { code?: string })): string {
  if (typeof end === 'string') return end
  if (end instanceof Crash) return 'crash'
  if (end.code === undefined) throw end
  return `error ${end.code}`
}

function crashIf({ ends }: Step, when: Step['ends']): void {
  if (ends === when) throw new Crash()
}

function keptLines(
  { isHeld, breaches, notices }: Kept,
  rows: readonly Pick<Row, 'op' | 'entry_id' | 'unsure' | 'createdBefore'>[],
): readonly string[] {
  const marks = (['unsure', 'createdBefore'] as const).flatMap((mark) =>
    rows.filter((row) => row[mark]).map(({ op, entry_id: id }) => `mark ${mark} ${op} ${id}`),
  )
  return [
    ...breaches.map((breach) => questionLine(breach)).toSorted(),
    ...noticeLines(notices),
    ...(isHeld ? [] : marks),
  ]
}

function noticeLines(notices: readonly Notice[]): readonly string[] {
  return notices.map(({ code, kind, id }) => `notice ${code} ${kind} ${id ?? ''}`).toSorted()
}

function questionLine({ guard, waitsFor, changes }: Breach): string {
  return `question ${guard} ${waitsFor ?? 'plan'}: ${changes.map(nameOf).toSorted().join(', ')}`
}

/** Sends the stored plan, in its order. */
function applyRun({ ram, service }: Stage, step: Step, run: Run, lines: string[]): void {
  ram.now += 1
  const rows = ram.rowsOf(run.run)
  const isWhole = !step.ends.endsWith('-in-apply')
  const sent = isWhole ? rows : rows.slice(0, Math.ceil(rows.length / 2))
  for (const row of sent) {
    const fate = step.fates.get(row.entry_id)
    const { state, status } = service.send(row.change, fate)
    lines.push(`send ${row.op} ${row.entry_id} ${valuesOf(row.change)}`)
    // The answer to the last request never came.
    const isLost = step.ends === 'crash-in-apply' && row === sent.at(-1)
    record(ram, run, row, isLost ? { state: 'unknown', status: undefined } : { state, status })
  }
  crashIf(step, 'crash-in-apply')
  if (step.ends === 'error-in-apply')
    throw Object.assign(new Error('stopped'), { code: 'target-unreachable' })
}

function valuesOf(change: Row['change']): string {
  if (!('want' in change)) return ''
  return Array.isArray(change.want)
    ? change.want.join(' ')
    : JSON.stringify(Object.entries(change.want).toSorted())
}

function record(
  ram: Ram,
  { run }: Run,
  row: Row,
  { state, status }: { readonly state: Row['state']; readonly status: number | undefined },
): void {
  const { op, entry_id, fingerprint, removes, approved } = row
  row.state = state
  row.wasThere = state === 'found' && !row.createdBefore && !row.unsure
  if (state === 'pending') row.refusals += 1
  if (state === 'unknown') row.unsure = true
  const outcome = state === 'pending' ? 'failed' : state
  const write = { run, op, entry_id, fingerprint, removes, approved, at: ram.now, outcome, status }
  ram.journal.push({ ...write, isSettled: false, isMissed: false })
  if (state === 'quarantined')
    ram.quarantine.set(fingerprint, { code: 'quarantined', detail: 'was refused', at: ram.now })
}

async function takeDecision(ram: Ram, decides: Decides): Promise<void> {
  const hold = openHold(ram) ?? ram.runs.findLast(({ hold: last }) => last === 'rejected')
  if (hold === undefined) return
  if (decides.does === 'approve-part') {
    approvePart(ram, hold.run, { by: 'ana', part: decides.part })
    return
  }
  const name =
    decides.only === undefined ? undefined : hold.breaches[decides.only % hold.breaches.length]?.guard
  const only = name === undefined ? undefined : [name]
  const decision = decides.does === 'approve' ? 'approved' : 'rejected'
  await decide(ram, hold.run, { decision, by: 'ana', only })
}
