import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { readProtections } from '../protections/table.ts'
import { PatchedTree } from '../protections/tree.ts'
import { makeTemplateStore } from '../support/empty-store.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { createDatabase, Lane } from './lane.ts'
import { lineOf, replayOf, summaryOf } from './report.ts'
import { type Outcome, runSchedule, type ScheduleOptions } from './run-schedule.ts'
import { faultName, inWords, type Schedule, scheduleOf } from './schedule.ts'
import { shrink } from './shrink.ts'
import { makeServiceTables } from '../support/service-tables.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SHRINK_TRIES = 15

const HELP = `npm run faults -- [options]

Runs the whole program through random faults, and checks what must always hold.

  --minutes N        how long new schedules begin (default 60)
  --schedules N      how many schedules at most
  --at-once N        how many at the same time (default 4)
  --seed S           the seed of the first schedule; each further one has the next number
  --patch NAME       removes a protection of test/protections/table, such as no-delete-without-recheck; the schedules
                     find those of bugs.diff
  --without A,B      leaves out these kinds of faults
  --keep-going       only notes violations, and goes on
To replay one schedule, or a part of it: --seed S --schedules 1 with
  --only-faults 0,2  --only-edits 1  --users N  --groups N  (the numbers as printed; "none" for none)
`

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    schedules: { type: 'string' },
    'at-once': { type: 'string', default: '4' },
    seed: { type: 'string' },
    patch: { type: 'string' },
    without: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
    'only-faults': { type: 'string' },
    'only-edits': { type: 'string' },
    users: { type: 'string' },
    groups: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (options.help) return void process.stdout.write(HELP)
  await using stack = new AsyncDisposableStack()
  const tree = await treeOf(stack)
  await makeTemplateStore()
  const services = stack.adopt(await startPostgres(), (server) => server.close())
  const serviceTemplate = await makeServiceTemplate(services)
  const atOnce = Number(options['at-once'])
  const lanes = Array.from({ length: atOnce }, (_, index) => stack.use(new Lane(`${index + 1}`, services)))
  const seed = options.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(options.seed)
  const began = Date.now()
  const outcomes = await runAll(seed, lanes, { serviceTemplate, tree })
  const failed = outcomes.filter(({ violations }) => violations.length > 0)
  if (failed.length > 0 && !options['keep-going'] && options['only-faults'] === undefined) {
    await reportSmallest(failed[0]!, lanes, { serviceTemplate, tree })
  }
  console.log(summaryOf(outcomes, { seed, minutes: (Date.now() - began) / 60_000 }))
  if (failed.length > 0) process.exitCode = 1
}

/** The folder with the sources of the program: a copy without the protection, or the project's own. */
async function treeOf(stack: AsyncDisposableStack): Promise<string> {
  if (options.patch === undefined) return ROOT
  const protection = readProtections().find(({ name }) => name === options.patch)
  if (protection === undefined) throw new Error(`there is no protection "${options.patch}"`)
  const tree = stack.use(await PatchedTree.make())
  stack.use(await tree.remove(protection))
  const types = await tree.typeErrors()
  if (types !== '') throw new Error(`the patched tree does not type-check: ${types}`)
  return tree.path
}

async function makeServiceTemplate(server: PostgresServer): Promise<string> {
  const url = await createDatabase(server.url, 'template0')
  const pool = new Pool({ connectionString: url })
  await makeServiceTables(pool)
  await pool.end()
  return /[^/]*$/.exec(url)![0]
}

type Shared = Omit<ScheduleOptions, 'lane'>

/** Runs schedules side by side until the time is over, the wanted number is reached, or one is violated. */
async function runAll(seed: number, lanes: readonly Lane[], shared: Shared): Promise<readonly Outcome[]> {
  const deadline = Date.now() + Number(options.minutes) * 60_000
  const most = options.schedules === undefined ? Number.POSITIVE_INFINITY : Number(options.schedules)
  const outcomes: Outcome[] = []
  let next = 0
  let isOver = false
  await Promise.all(
    lanes.map(async (lane) => {
      while (!isOver && next < most && Date.now() < deadline) {
        const schedule = chosen(scheduleOf(seed + next))
        next += 1
        const outcome = await runSchedule(schedule, { ...shared, lane })
        outcomes.push(outcome)
        console.log(lineOf(outcome))
        if (outcome.violations.length > 0 && !options['keep-going']) isOver = true
      }
    }),
  )
  return outcomes
}

/** The schedule as the options for a replay want it. */
function chosen(schedule: Schedule): Schedule {
  const without = new Set(options.without?.split(',') ?? [])
  return {
    ...schedule,
    users: options.users === undefined ? schedule.users : Number(options.users),
    groups: options.groups === undefined ? schedule.groups : Number(options.groups),
    edits: pick(schedule.edits, options['only-edits']),
    faults: pick(schedule.faults, options['only-faults']).filter((fault) => !without.has(faultName(fault))),
  }
}

function pick<T>(all: readonly T[], only: string | undefined): readonly T[] {
  if (only === undefined) return all
  const numbers = new Set(only.split(',').map(Number))
  return all.filter((_, index) => numbers.has(index))
}

async function reportSmallest(found: Outcome, lanes: readonly Lane[], shared: Shared): Promise<void> {
  console.log(`\nViolated by this schedule:\n${inWords(found.schedule)}\nLooking for a smaller one …`)
  const free = [...lanes]
  const run = async (schedule: Schedule): Promise<Outcome> => {
    let lane = free.pop()
    while (lane === undefined) {
      await sleep(100)
      lane = free.pop()
    }
    const outcome = await runSchedule(schedule, { ...shared, lane })
    free.push(lane)
    return outcome
  }
  const { outcome, tries } = await shrink(found, { tries: SHRINK_TRIES, atOnce: lanes.length, run })
  console.log(`\nThe smallest after ${tries} tries:\n${inWords(outcome.schedule)}\n${lineOf(outcome)}`)
  console.log(`Replay it with: ${replayOf(outcome.schedule, options.patch)}\n`)
}

await main()
