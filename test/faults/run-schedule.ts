import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { watchLoad } from '../support/machine-load.ts'
import { readService } from '../support/read-service.ts'
import { checkAll, type Violation } from './checks.ts'
import type { RunDetails, RunJson } from './daemon-client.ts'
import { inject } from './inject.ts'
import type { Schedule } from './schedule.ts'
import { openWorld, readLog, type World, type WorldOptions } from './world.ts'

/** What came of one schedule. */
export interface Outcome {
  readonly schedule: Schedule
  readonly violations: readonly Violation[]
  /** Where the logs are; deleted when nothing is wrong. */
  readonly dir: string
  readonly seconds: number
}

/** How long the work may take to come to its end after the last fault and edit. */
const QUIET_MS = { tenth: 60_000, real: 180_000 }
const START_MS = 60_000

export interface ScheduleOptions extends Omit<WorldOptions, 'dir'> {
  readonly keepLogs?: boolean
}

export async function runSchedule(schedule: Schedule, options: ScheduleOptions): Promise<Outcome> {
  const began = performance.now()
  const dir = await mkdtemp(join(tmpdir(), `dirsyncd-faults-${schedule.seed}-`))
  const violations = await playAndCheck(schedule, { ...options, dir }).catch((error: Error) => [
    { check: 'suite', detail: error.stack ?? error.message },
  ])
  if (violations.length === 0 && options.keepLogs !== true) await rm(dir, { recursive: true, force: true })
  return { schedule, violations, dir, seconds: (performance.now() - began) / 1000 }
}

async function playAndCheck(schedule: Schedule, options: WorldOptions): Promise<readonly Violation[]> {
  await using world = await openWorld(schedule, options)
  await world.setClock(0)
  world.startProcesses()
  const never = await prepare(world)
  if (never !== undefined) return [never]
  await play(world)
  const stuck = await untilQuiet(world)
  const ended = Date.now()
  const second = stuck === undefined ? await sync(world) : undefined
  return checkAll({
    world,
    stuck,
    second,
    ended,
    directory: await readService(world.service),
    runs: await readRuns(world),
    logs: await Promise.all(world.logs.map(async (path) => ({ path, text: await readLog(path) }))),
  })
}

/** A machine that has much else to do gets more time, up to four times as much. */
function scaled(ms: number): number {
  return Math.round(Math.min(4 * ms, watchLoad()(ms)))
}

/** Waits until the daemon is up, and for the first run where the schedule wants that. */
async function prepare(world: World): Promise<Violation | undefined> {
  const deadline = Date.now() + scaled(START_MS)
  if (!(await isUp(world, deadline))) return { check: 'start', detail: 'the daemon did not start' }
  if (!world.schedule.prelude) return undefined
  const run = await untilDone(world, deadline)
  if (run.state !== 'done')
    return { check: 'prelude', detail: `the first run is ${run.state}: ${endOf(run)}` }
  if (world.schedule.before === 'strangers') await world.addStrangers()
  return undefined
}

async function isUp({ daemon }: World, deadline: number): Promise<boolean> {
  while (Date.now() < deadline) {
    if (await daemon.isUp()) return true
    await sleep(100)
  }
  return false
}

/** Does the edits one after the other, and the faults when it is their time. Ends when all are over. */
async function play(world: World): Promise<void> {
  const began = Date.now()
  const until = (at: number) => sleep(Math.max(0, began + at - Date.now()))
  const faults = world.schedule.faults.map(async (fault) => {
    await until(fault.at)
    if (fault.whenWriting === true) await world.nextWrite(3000)
    await inject(world, fault)
  })
  const edits = async () => {
    for (const edit of world.schedule.edits) {
      await until(edit.at)
      await world.edit(edit)
      // A run begins at once, so that the next faults meet it. Where the daemon is away, the schedule has to do.
      void world.daemon.requestRun().catch(() => undefined)
    }
  }
  await Promise.all([...faults, edits()])
}

/** So many runs in a row that end and leave something undone will not become better. */
const MOST_UNCLEAN = 4

/** Asks for runs until one ends with everything done; resolves with the last one when none does. */
async function untilDone(world: World, deadline: number): Promise<RunDetails> {
  for (let unclean = 0; ;) {
    const run = await followRun(world, await world.daemon.requestRun(), deadline)
    if (run.state === 'done' && isClean(run)) return run
    unclean = run.state === 'done' ? unclean + 1 : 0
    if (run.state === 'held' || unclean === MOST_UNCLEAN || Date.now() > deadline) return run
    await sleep(300)
  }
}

async function followRun({ daemon }: World, number: number, deadline: number): Promise<RunDetails> {
  for (;;) {
    const run = await daemon.run(number)
    if (['done', 'failed', 'held'].includes(run.state) || Date.now() > deadline) return run
    await sleep(100)
  }
}

/** Whether `dirsyncd sync` would end with 0. */
function isClean({ counts, blocks }: RunJson): boolean {
  const left = [counts?.outcomes['missing'], counts?.outcomes['failed'], counts?.outcomes['quarantined']]
  const noted = ['shared-id', 'directory-incomplete'].map((code) => counts?.notices[code])
  return blocks.length === 0 && [...left, ...noted].every((count = 0) => count === 0)
}

/** Asks for runs until one ends well. Resolves with what was wrong with the last one when none does in time. */
async function untilQuiet(world: World): Promise<Violation | undefined> {
  const began = Date.now()
  const limit = QUIET_MS[world.schedule.times]
  let last: RunDetails | undefined
  for (
    let deadline = began + limit;
    Date.now() < deadline;
    deadline = Math.max(deadline, began + scaled(limit))
  ) {
    if (!(await isUp(world, deadline))) break
    // The daemon may go away again, where a fault left it nothing to start with.
    last = await untilDone(world, deadline).catch(() => last)
    if (last?.state === 'held') return { check: 'held', detail: endOf(last) }
    if (last?.state === 'done' && isClean(last)) return undefined
    if (last?.state === 'done') break
  }
  if (last === undefined) return { check: 'quiet', detail: 'the daemon did not come back' }
  return {
    check: 'quiet',
    detail: `after ${Date.now() - began} ms run ${last.run} is ${last.state}: ${endOf(last)}`,
  }
}

function endOf(run: RunJson | undefined): string {
  return JSON.stringify({ error: run?.error, blocks: run?.blocks, counts: run?.counts })
}

/** One `dirsyncd sync` as an administrator runs it. */
export interface SyncResult {
  readonly code: number
  readonly run: RunDetails | undefined
  readonly stderr: string
}

async function sync(world: World): Promise<SyncResult> {
  const { args, env } = world.command('sync', 'corp', '--json')
  const options = { env: { ...process.env, ...env }, timeout: scaled(60_000), maxBuffer: 1e8 }
  const run = promisify(execFile)(process.execPath, [...args], options)
  const { stdout, stderr, code } = await run.then(
    (printed) => ({ ...printed, code: 0 }),
    (error: { stdout: string; stderr: string; code: number | null }) => ({
      ...error,
      code: error.code ?? -1,
    }),
  )
  const line = stdout.split('\n').find((each) => each.startsWith('{'))
  return { code, stderr, run: line === undefined ? undefined : (JSON.parse(line) as RunDetails) }
}

async function readRuns({ daemon }: World): Promise<readonly RunDetails[]> {
  const runs: RunDetails[] = []
  // A daemon that is stuck may not answer; the other checks go on without its runs.
  const listed = await daemon.runs().catch(() => [])
  for (const { run } of listed) runs.push(await daemon.run(run))
  return runs.toSorted((a, b) => a.run - b.run)
}
