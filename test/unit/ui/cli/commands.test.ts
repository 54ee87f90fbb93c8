import { CONTAINER_EMPTIED, MAX_DELETES, SERVER_NOT_NEWER } from '../../../support/blocks.ts'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import type { ReloadReport } from '../../../../src/operations/reload.ts'
import type { Compose } from '../../../../src/ui/cli/context.ts'
import { runCli } from '../../../../src/ui/cli/run.ts'
import { whoAmI } from '../../../../src/ui/cli/who-am-i.ts'
import type { TestedChannel } from '../../../../src/compose/test-notifications.ts'
import type { CheckItem, CheckRequest } from '../../../../src/operations/check.ts'
import type {
  Control,
  Decided,
  DecisionRequest,
  RunRequest,
  RunView,
  SyncPause,
  UndoRequest,
} from '../../../../src/operations/control.ts'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { ownerInWords, type OwnerInWords } from '../../../../src/base/database/owner.ts'
import { createFolder } from '../../config/folder.ts'
import { blockOf, changeOf, countsOf, createUser, decisionOf, runOf } from './runs-for-tests.ts'

const SYNC = (name: string, id: number) => `
  - name: ${name}
    source: { type: csv, users: { path: users.csv, map: { external_id: id } } }
    directory: { baseUrl: https://x.org, organizationId: 1, directoryId: ${id}, token: { env: TOKEN } }`

/** What a scripted control answers, and what it was asked. */
interface Script {
  /** The run by its number, as it looks each time it is asked for; the last one stays. */
  readonly runs?: Readonly<Record<number, readonly RunView[]>>
  readonly check?: readonly CheckItem[]
  readonly tested?: readonly TestedChannel[]
  readonly decide?: (request: DecisionRequest) => Decided
  readonly paused?: readonly SyncPause[]
  /** What the operator answers on the terminal; there is none if left out. */
  readonly answer?: boolean
  /** What the daemon did with its configuration. */
  readonly reloaded?: ReloadReport
  /** What has the store before the command; an empty text: another process of the same command. */
  readonly waitsFor?: string
  /** Runs that end while the daemon runs. */
  readonly ended?: readonly RunView[]
}

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly asked: readonly RunRequest[]
  readonly checked: CheckRequest | undefined
  readonly undone: readonly UndoRequest[]
  readonly resumed: readonly string[]
  readonly closed: number
}

async function dirsyncd(argv: readonly string[], script: Script = {}, yaml?: string): Promise<Outcome> {
  await using folder = await createFolder()
  const file = await folder.write('dirsyncd.yaml', yaml ?? `syncs:${SYNC('corp', 1)}${SYNC('labs', 2)}\n`)
  const seen = {
    asked: [] as RunRequest[],
    undone: [] as UndoRequest[],
    resumed: [] as string[],
    closed: 0,
  }
  let checked: CheckRequest | undefined
  const compose: Compose = {
    sourceProblem: () => undefined,
    openControl: (_config, _log, { command, onWait }) => {
      if (script.waitsFor !== undefined) onWait(owner(script.waitsFor || command))
      return Promise.resolve(scriptedControl(script, seen))
    },
    collectBundle: () => Promise.resolve({ bundle: {}, missing: [] }),
    runDaemon(_config, _log, _signal, output) {
      output.announce('The admin page is at http://x.')
      for (const run of script.ended ?? []) output.onRunEnd(run)
      return Promise.resolve()
    },
    runWorker: () => Promise.resolve(),
    reload: (_dataDir, { onWait }) => {
      if (script.waitsFor !== undefined) onWait(owner(script.waitsFor))
      return Promise.resolve(script.reloaded!)
    },
    async *runCheck(_config, _log, request) {
      checked = request
      yield* script.check ?? []
    },
    openInit: () => Promise.reject(new Error('not scripted')),
    moveStore: () => Promise.resolve({ tables: [{ table: 'changes', rows: 1234 }], kept: '/x/store.moved' }),
    async *testNotifications(_config, only) {
      yield* (script.tested ?? []).filter(({ channel }) => only === undefined || channel === only)
    },
  }
  const out = { stdout: '', stderr: '' }
  const { answer } = script
  const code = await runCli(
    {
      argv,
      stdout: { write: (text: string) => (out.stdout += text) },
      stderr: { write: (text: string) => (out.stderr += text) },
      ask:
        answer === undefined
          ? undefined
          : (question) => {
              out.stderr += `${question}\n`
              return Promise.resolve(answer)
            },
    },
    { env: { DIRSYNCD_CONFIG: file }, loadCompose: () => Promise.resolve(compose) },
  )
  return { code, ...out, ...seen, checked }
}

function scriptedControl(
  script: Script,
  seen: { asked: RunRequest[]; undone: UndoRequest[]; resumed: string[]; closed: number },
): Control {
  const polls = new Map<number, number>()
  return {
    requestRun(request) {
      seen.asked.push(request)
      return Promise.resolve(seen.asked.length)
    },
    run(number, detail) {
      if (seen.closed > 0) return Promise.reject(new Error('the stores are closed'))
      const states = script.runs?.[number] ?? []
      const poll = polls.get(number) ?? 0
      polls.set(number, poll + 1)
      const view = states[Math.min(poll, states.length - 1)]
      return Promise.resolve(view && { ...view, changes: view.changes.slice(0, detail?.limit ?? 1000) })
    },
    changes: (number, { after = 0 }) =>
      Promise.resolve(
        script
          .runs![number]!.at(-1)!
          .changes.filter((change) => change.number > after)
          .slice(0, 1000),
      ),
    notices: (number, { after = 0 }) =>
      Promise.resolve(
        script
          .runs![number]!.at(-1)!
          .notices.slice(after, after + 1000)
          .map((notice, place) => ({ ...notice, number: after + place + 1 })),
      ),
    runs: ({ sync }) =>
      Promise.resolve(
        Object.values(script.runs ?? {})
          .flatMap((states) => states.slice(-1))
          .filter((run) => sync === undefined || run.sync === sync)
          .toReversed(),
      ),
    approve: async (request) => (script.decide ?? nothingAsked)(request),
    reject: async (request) => (script.decide ?? nothingAsked)(request),
    undo: (request) => {
      seen.undone.push(request)
      return Promise.resolve(seen.undone.length)
    },
    pause: ({ sync, by, reason = null }) =>
      Promise.resolve({ pause: { sync, by, reason, since: '2026-11-25T07:29:03.000Z' }, stopped: 13 }),
    resume: ({ sync, by }) => {
      seen.resumed.push(`${sync} by ${by}`)
      return Promise.resolve(script.paused?.[0] ?? null)
    },
    paused: () => Promise.resolve(script.paused ?? []),
    quarantine: () => Promise.resolve([]),
    release: () => Promise.resolve([]),
    explain: ({ sync, who }) => Promise.resolve({ result: 'several', sync, who, matches: [] }),
    [Symbol.asyncDispose]() {
      seen.closed += 1
      return Promise.resolve()
    },
  }
}

function nothingAsked(): Decided {
  throw new DirsyncdError('run-unknown', 'Run 99 asks nothing.')
}

test('sync follows the run to its end, prints its report and closes what it opened', async () => {
  const result = await dirsyncd(['sync', 'corp'], {
    runs: {
      1: [
        runOf({ run: 1, state: 'waiting', counts: null }),
        runOf({ run: 1, counts: countsOf({ planned: { 'create-user': 1 }, outcomes: { applied: 1 } }) }),
      ],
    },
  })
  expect(result.code).toBe(0)
  expect(result.asked).toEqual([{ sync: 'corp', mode: 'sync' }])
  expect(result.stdout).toMatch(/^corp: run 1, done(.|\n)*\n\ncorp: 1 change made\.\n\n$/)
  expect(result.stderr).toBe('')
  expect(result.closed).toBe(1)
})

test('sync without a name runs every sync, also after one that failed, and ends with the worst code', async () => {
  const result = await dirsyncd(['sync'], {
    runs: { 1: [runOf({ run: 1, state: 'failed', error: 'The source is down.' })], 2: [runOf({ run: 2 })] },
  })
  expect(result.asked.map(({ sync }) => sync)).toEqual(['corp', 'labs'])
  expect(result.code).toBe(1)
  expect(result.stderr).toBe('corp: run 1 failed: The source is down.\n')
  expect(result.stdout).not.toContain('The source is down.')
})

test.each([
  ['plan', ['plan', 'corp']],
  ['sync --dry-run', ['sync', 'corp', '--dry-run']],
])('%s only plans, and exits 2 where something would change', async (_, argv) => {
  const planned = runOf({
    run: 1,
    mode: 'plan',
    state: 'planned',
    counts: countsOf({ planned: { 'create-user': 1 } }),
    changes: [changeOf(createUser('e-1'), { state: 'pending' })],
    totalChanges: 1,
  })
  const result = await dirsyncd(argv, { runs: { 1: [planned] } })
  expect(result.asked).toEqual([{ sync: 'corp', mode: 'plan' }])
  expect(result.code).toBe(2)
  expect(result.stdout).toContain('+ create user   e-1  Name of e-1')
})

const UNDO_PLAN = runOf({
  run: 1,
  mode: 'plan',
  state: 'planned',
  undo: { run: 12, part: {} },
  counts: countsOf({ sourceUsers: 3, planned: { 'create-user': 2 } }),
  lost: ['2 users: the numeric id (a new one is given), employee_id'],
})
const UNDONE = runOf({
  run: 2,
  undo: { run: 12, part: {} },
  paused: { sync: 'corp', by: 'ana', reason: 'undo of run 12', since: '2026-11-25T07:29:03.000Z' },
})

test('undo shows everything, names what does not come back, asks, and says that the sync is paused', async () => {
  const script = { runs: { 1: [UNDO_PLAN], 2: [UNDONE] } }
  const done = await dirsyncd(['undo', '12', '--id', 'e-1', '--only', 'deletes'], { ...script, answer: true })
  const part = { names: ['deletes'], ids: ['e-1'] }
  expect(done.undone).toMatchObject([
    { run: 12, mode: 'plan', part },
    { run: 12, mode: 'sync', part },
  ])
  expect(done.code).toBe(0)
  expect(done.stdout).toContain('corp: plan 1, undo of run 12, planned')
  expect(done.stdout).toContain(
    'Does not come back:\n  2 users: the numeric id (a new one is given), employee_id',
  )
  expect(done.stderr).toBe('Put this back, and pause corp?\n')
  expect(done.stdout).toMatch(/corp is paused\. dirsyncd resume corp shows what its next run would do, .*\n$/)

  const refused = await dirsyncd(['undo', '12'], { ...script, answer: false })
  expect(refused.undone).toMatchObject([{ mode: 'plan' }])
  expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was changed.') })
})

test('undo asks nobody where there is no terminal, and does nothing without --yes', async () => {
  const script = { runs: { 1: [UNDO_PLAN] } }
  expect(await dirsyncd(['undo', '12'], script)).toMatchObject({
    code: 64,
    undone: [{ mode: 'plan' }],
    stderr:
      'There is no terminal on which to ask; add --dry-run to look at the undo, and then --yes to do it.\n',
  })
  const asJson = await dirsyncd(['undo', '12', '--json'], { ...script, answer: true })
  expect(asJson).toMatchObject({ code: 64, undone: [{ mode: 'plan' }] })
  expect(asJson.stderr).toMatch(/With --json nobody is asked; add --dry-run/)
  expect(JSON.parse(asJson.stdout)).toMatchObject({ lost: UNDO_PLAN.lost })
  expect(await dirsyncd(['undo', '12', '--dry-run'], script)).toMatchObject({
    code: 2,
    undone: [{ mode: 'plan' }],
  })
  expect(await dirsyncd(['undo', '12', '--yes'], { runs: { 1: [UNDO_PLAN], 2: [UNDONE] } })).toMatchObject({
    code: 0,
    undone: [{ mode: 'plan' }, { mode: 'sync' }],
  })
})

test('an undo that only deletes has all of its plan stopped, and asks', async () => {
  const counts = countsOf({ blocked: { 'delete-user': 2 }, asking: { 'delete-user': 2 } })
  const undone = runOf({ ...UNDONE, state: 'held', questions: 2, open: counts.asking, counts })
  const runs = { 1: [runOf({ ...UNDO_PLAN, counts })], 2: [undone] }
  const { code, stdout } = await dirsyncd(['undo', '12'], { runs, answer: true })
  expect(code).toBe(3)
  expect(stdout).toContain('corp: no changes; 2 deletions of users need approval (run 2).')
})

test('an undo with nothing to put back pauses nothing', async () => {
  const nothing = runOf({ ...UNDO_PLAN, counts: countsOf({}) })
  const result = await dirsyncd(['undo', '12'], { runs: { 1: [nothing] }, answer: true })
  expect(result).toMatchObject({ code: 0, undone: [{ mode: 'plan' }], stderr: '' })
  expect(result.stdout).toContain(
    'There is nothing to put back: the directory shows nothing any more of what run 12 wrote.',
  )
  const asJson = await dirsyncd(['undo', '12', '--yes', '--json'], { runs: { 1: [nothing] } })
  expect(JSON.parse(asJson.stdout)).toMatchObject({ run: 1 })
  const noticed = runOf({ ...nothing, totalNotices: 1 })
  const left = await dirsyncd(['undo', '12'], { runs: { 1: [noticed] }, answer: true })
  expect(left.stdout).toContain('Nothing can be put back now, for the reasons above.')
  expect(left.undone).toMatchObject([{ mode: 'plan' }])
  const dry = await dirsyncd(['undo', '12', '--dry-run'], { runs: { 1: [nothing] } })
  expect(dry.stdout).toContain('There is nothing to put back')
})

test('resume says what becomes of an undo that is not at its end', async () => {
  const paused = [{ sync: 'corp', by: 'ana', reason: null, since: '2026-11-25T07:29:03.000Z' }]
  const resume = async (undo: RunView) => {
    const runs = { 14: [undo], 15: [runOf({ run: 15, mode: 'plan', undo: { run: 12, part: {} } })] }
    const { stdout, resumed } = await dirsyncd(['resume', 'corp', '--no-plan'], { paused, runs })
    expect(resumed).toEqual([`corp by ${whoAmI({})}`])
    return stdout
  }
  const undo = { run: 14, undo: { run: 12, part: {} } }
  expect(await resume(runOf({ ...undo, state: 'held', questions: 2 }))).toMatch(
    /^Run 14, the undo of run 12, still asks, .* dirsyncd approve 14 continues the undo /,
  )
  expect(await resume(runOf({ ...undo, state: 'applying', finishedAt: null }))).toMatch(
    /^Run 14, the undo of run 12, has not ended, and the next run of corp does again what it puts back\.\n/,
  )
  expect(await resume(runOf({ ...undo, state: 'done' }))).toMatch(/^corp runs again/)
})

test('resume shows what the next run would do, and asks', async () => {
  const pause = { sync: 'corp', by: 'ana', reason: null, since: '2026-11-25T07:29:03.000Z' }
  const plan = runOf({
    run: 1,
    mode: 'plan',
    state: 'planned',
    counts: countsOf({ planned: { 'delete-user': 2 } }),
  })
  const script = { runs: { 1: [plan] }, paused: [pause] }
  const no = await dirsyncd(['resume', 'corp'], { ...script, answer: false })
  expect(no).toMatchObject({ code: 0, resumed: [], stderr: 'Let corp run again?\n' })
  expect(no.stdout).toMatch(/planned {4}2 deletions of users(.|\n)*corp stays paused\.\n$/)
  expect((await dirsyncd(['resume', 'corp'], { ...script, answer: true })).resumed).toHaveLength(1)
  const failed = {
    ...script,
    runs: { 1: [runOf({ run: 1, mode: 'plan', state: 'failed', error: 'The source is down.' })] },
  }
  const unknown = await dirsyncd(['resume', 'corp', '--yes'], failed)
  expect(unknown).toMatchObject({ code: 1, resumed: [] })
  expect(unknown.stderr).toContain(
    'so it stays paused; dirsyncd resume corp --no-plan resumes it without a look.',
  )
  expect((await dirsyncd(['resume', 'corp', '--no-plan'], failed)).resumed).toHaveLength(1)
  expect(await dirsyncd(['resume', 'corp'], {})).toMatchObject({
    code: 64,
    stderr: 'The sync corp is not paused.\n',
  })
})

test('--json prints one object a line and nothing else', async () => {
  const result = await dirsyncd(['sync', '--json'], {
    runs: { 1: [runOf({ run: 1 })], 2: [runOf({ run: 2, state: 'held', questions: 1 })] },
  })
  const lines = result.stdout.trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as RunView).run)).toEqual([1, 2])
  expect(result.code).toBe(3)
})

test('a run that does not exist is one sentence and exit code 1', async () => {
  const result = await dirsyncd(['runs', '99'])
  expect(result).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'There is no run 99; dirsyncd runs lists the newest ones.\n',
    closed: 1,
  })
})

const SOME = { 'delete-user': 20 }
const ASKING = runOf({
  run: 5,
  questions: 20,
  blocks: [blockOf(CONTAINER_EMPTIED, { changes: 20 })],
  reasons: [{ code: 'container-emptied', changes: SOME, open: SOME, isOpen: true }],
  counts: countsOf({ asking: SOME, blocked: SOME }),
})
const APPLIED = runOf({
  run: 6,
  trigger: 'approval',
  counts: countsOf({ planned: SOME, outcomes: { applied: 20 } }),
})

/** Records what is asked, and answers as the operation does. */
function deciding(parts: Partial<Decided> = {}, started: number | null = 6) {
  const asked: DecisionRequest[] = []
  const decide = (request: DecisionRequest): Decided => {
    asked.push(request)
    const run = { ...ASKING, questions: 0 }
    return { run, decision: decisionOf({ started }), paused: null, sent: null, ...parts }
  }
  return { asked, decide }
}

test('approve says what was decided, and follows the run that applies it', async () => {
  const { asked, decide } = deciding()
  const runs = { 5: [ASKING, { ...ASKING, questions: 0 }], 6: [APPLIED] }
  const result = await dirsyncd(['approve', '5', '--reason', 'why'], { decide, runs })
  expect(asked).toMatchObject([{ run: 5, reason: 'why', by: whoAmI({}) }])
  expect(result.code).toBe(0)
  expect(result.stdout).toMatch(
    /^Run 5 of corp: 20 deletions of users approved; run 6 applies it\.\ncorp: run 6, after an approval, done(.|\n)*corp: 20 changes made\.\n\n$/,
  )
  const json = await dirsyncd(['approve', '5', '--json'], { decide, runs })
  expect((JSON.parse(json.stdout) as RunView).run).toBe(6)
})

test.each([
  [
    ['--id', 'a', '--id', 'b', '--only', 'updates', 'members'],
    { ids: ['a', 'b'], only: ['updates', 'members'] },
  ],
  [['--code', 'container-emptied'], { code: 'container-emptied' }],
  [['--all'], { isAll: true }],
])('approve and reject choose with %j', async (options, selection) => {
  for (const command of ['approve', 'reject']) {
    const { asked, decide } = deciding()
    await dirsyncd([command, '5', ...options], { decide, runs: { 5: [ASKING], 6: [APPLIED] } })
    expect(asked).toMatchObject([{ run: 5, ...selection }])
  }
})

test('what is not chosen stays asked, and approve and reject say so', async () => {
  const rest = { ...ASKING, questions: 12, open: { 'delete-user': 12 } }
  const { decide } = deciding({ run: rest }, null)
  const runs = { 5: [ASKING, rest] }
  const { stdout, code } = await dirsyncd(['reject', '5', '--id', 'a'], { decide, runs })
  expect(stdout).toBe(
    'Run 5 of corp: the named changes rejected; these changes are not made until an operator approves them.\n12 deletions of users need approval (run 5).\n',
  )
  expect(code).toBe(3)
  const json = await dirsyncd(['reject', '5', '--id', 'a', '--json'], { decide, runs })
  expect(JSON.parse(json.stdout)).toMatchObject({ run: { run: 5, questions: 12 }, decision: { decision: 1 } })
})

test('reject says which changes a run under way had sent before', async () => {
  const { decide } = deciding({ sent: { run: 6, changes: 2, underWay: 3 } }, null)
  const runs = { 5: [ASKING, { ...ASKING, questions: 0 }] }
  const { stdout } = await dirsyncd(['reject', '5'], { decide, runs })
  expect(stdout).toMatch(
    /approves them\. Run 6 had already sent 2 of these changes \(3 more may be under way\): dirsyncd runs 6 lists them, and dirsyncd undo 6 puts/,
  )
})

test('the exit code of approve is that of its run, which may ask something else', async () => {
  const { decide } = deciding()
  const runs = { 5: [ASKING], 6: [{ ...ASKING, run: 6 }] }
  const result = await dirsyncd(['approve', '5', '--id', 'a'], { decide, runs })
  expect(result.code).toBe(3)
  expect(result.stdout).toContain('Nothing of this was applied')
  expect(result.stdout).toContain('20 deletions of users need approval (run 6)')
})

test('an approval of a paused sync is for the first run after it', async () => {
  const paused = { sync: 'corp', by: 'ana', reason: null, since: '2026-11-25T07:29:03.000Z' }
  const { decide } = deciding({ paused }, null)
  const runs = { 5: [ASKING, { ...ASKING, questions: 0 }] }
  expect((await dirsyncd(['approve', '5'], { decide, runs })).stdout).toBe(
    'Run 5 of corp: 20 deletions of users approved; corp is paused, so a run after dirsyncd resume corp applies it.\n',
  )
})

test('on a terminal, approve shows what it covers and asks; reject and --yes do not', async () => {
  const { asked, decide } = deciding()
  const script = { decide, runs: { 5: [ASKING], 6: [APPLIED] } }
  const refused = await dirsyncd(['approve', '5'], { ...script, answer: false })
  expect(refused).toMatchObject({
    code: 3,
    stdout:
      'container-emptied: 20 deletions of users (an OU lost all its entries; a revoked read right looks the same)\nNothing was decided.\n',
    stderr: 'Approve 20 deletions of users?\n',
  })
  expect(asked).toEqual([])
  await dirsyncd(['approve', '5'], { ...script, answer: true })
  await dirsyncd(['approve', '5', '--yes'], { ...script, answer: false })
  await dirsyncd(['reject', '5'], { ...script, answer: false })
  expect(asked).toHaveLength(3)
})

test('an approval of a fact names it', async () => {
  const { decide } = deciding({}, null)
  const asks = ['fact', 'server', 'token'] as const
  const run = runOf({
    run: 5,
    questions: 1,
    blocks: [blockOf(SERVER_NOT_NEWER, { until: 'read', asks, changes: 0 })],
    reasons: [{ code: 'server-not-newer', changes: {}, open: {}, isOpen: true }],
  })
  const { stdout, stderr } = await dirsyncd(['approve', '5'], { decide, runs: { 5: [run] }, answer: true })
  expect(stderr).toBe('Approve the state of the server?\n')
  expect(stdout).toContain(
    'Run 5 of corp: the state of the server approved; the next run of corp applies it.',
  )
})

function askForReason(): Decided {
  throw new DirsyncdError('usage', 'Run 5 asks for 2 reasons: choose.')
}

test('on a terminal, a run that asks for two reasons shows both before one has to be chosen', async () => {
  const two = {
    ...ASKING,
    reasons: [...ASKING.reasons, { code: MAX_DELETES.code, changes: SOME, open: SOME, isOpen: true }],
    decisions: [decisionOf({ does: 'reject', reason: 'on leave', selection: { ids: ['x'] } })],
  }
  const script = { decide: askForReason, runs: { 5: [two] }, answer: false }
  const result = await dirsyncd(['approve', '5'], script)
  expect(result).toMatchObject({ code: 64, stderr: 'Run 5 asks for 2 reasons: choose.\n' })
  expect(result.stdout.split('\n')).toEqual([
    'Run 5 was rejected by ana at 2026-11-21 07:30:00Z (x): "on leave"',
    expect.stringMatching(/^container-emptied: 20 deletions of users \(/),
    expect.stringMatching(/^max-deletes-users: 20 deletions of users \(/),
    '',
  ])
  expect((await dirsyncd(['approve', '5', '--code', 'max-deletes-users'], script)).stderr).toBe(
    'Approve 20 deletions of users?\n',
  )
})

test('approve and reject of a run that asks nothing, and of one that does not exist', async () => {
  for (const command of ['approve', 'reject']) {
    const runs = { 99: [runOf({ run: 99 })] }
    expect(await dirsyncd([command, '99'], { runs })).toMatchObject({
      code: 1,
      stderr: 'Run 99 asks nothing.\n',
    })
    expect(await dirsyncd([command, '98'])).toMatchObject({
      code: 1,
      stderr: 'There is no run 98; dirsyncd runs lists the newest ones.\n',
    })
  }
})

test('check shows everything below its heading, and one that failed gives exit code 1', async () => {
  const line = { type: 'line', sync: 'corp' } as const
  const check: CheckItem[] = [
    { ...line, sync: '', part: 'site', label: 'stores', level: 'ok', detail: 'open' },
    { ...line, part: 'source', label: 'bind', level: 'warn', detail: 'anonymous' },
    { ...line, part: 'source', label: 'paging', level: 'info', detail: 'offered' },
    { ...line, part: 'directory', label: 'token', level: 'fail', detail: 'The token was refused.' },
  ]
  const result = await dirsyncd(['check', 'corp', '--writes'], { check })
  expect(result.checked).toEqual({ writes: true, samples: true, sync: 'corp' })
  expect(result.stdout.split('\n')).toEqual([
    'this installation',
    '  ok    stores        open',
    '',
    'corp: source',
    '  warn  bind          anonymous',
    '        paging        offered',
    '',
    'corp: directory',
    '  FAIL  token         The token was refused.',
    '',
    '1 check failed, 1 warning.',
    '',
  ])
  expect(result.code).toBe(1)
  const json = await dirsyncd(['check', '--no-samples', '--json'], { check })
  expect(json.checked).toEqual({ writes: false, samples: false })
  expect(
    json.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as unknown),
  ).toEqual(check)
})

test('start prints what the daemon announces and what its runs did', async () => {
  const ended = [runOf({ run: 1, counts: countsOf({ planned: { 'create-user': 1 } }) }), runOf({ run: 2 })]
  const { stdout } = await dirsyncd(['start'], { ended })
  expect(stdout).toMatch(/^The admin page is at http:\/\/x\.\ncorp: run 1, done/)
  expect(stdout).toMatch(/\ncorp: run 2, done.*: 0 unchanged; no changes\n$/)
  const lines = (await dirsyncd(['start', '--json'], { ended })).stdout.trimEnd().split('\n')
  expect(lines[0]).toBe('{"message":"The admin page is at http://x."}')
  const runs = lines.slice(1).map((line) => JSON.parse(line))
  expect(runs).toEqual([
    expect.objectContaining({ run: 1, counts: expect.objectContaining({ planned: { 'create-user': 1 } }) }),
    expect.objectContaining({ run: 2, failed: false }),
  ])
  for (const run of runs)
    for (const field of ['changes', 'notices', 'lost', 'error', 'decisions'])
      expect(run).not.toHaveProperty(field)
})

const REFUSED: readonly [argv: readonly string[], code: number, sentence: RegExp][] = [
  [[], 64, /^A command is missing; see dirsyncd --help\.\n$/],
  [['quarantine'], 64, /^A command is missing; see dirsyncd quarantine --help\.\n$/],
  [['snyc'], 64, /^Unknown command 'snyc' \(Did you mean sync\?\); see dirsyncd --help\.\n$/],
  [['sync', '--frob'], 64, /^Unknown option '--frob'; see dirsyncd sync --help\.\n$/],
  [['sync', 'a', 'b'], 64, /^Too many arguments for 'sync'.*\n$/],
  [['sync', 'crop'], 64, /^There is no sync crop; did you mean corp\?\n$/],
  [['sync', '--user', 'a'], 64, /^The options --user and --group need a sync.*\n$/],
  [['approve'], 64, /^Missing required argument 'run'; see dirsyncd approve --help\.\n$/],
  [
    ['approve', '1', '--only', 'creatures'],
    64,
    /^.*Allowed choices are creates, updates, deletes, members.*\n$/,
  ],
  [['approve', '1.5'], 64, /^.*must be a whole number from 1.*\n$/],
  [['runs', '--limit', '0'], 64, /^.*must be a whole number from 1.*\n$/],
  [['--log-level', 'loud', 'sync'], 64, /^.*Allowed choices are debug, info.*\n$/],
  [['sync', '--config', 'no/such.yaml'], 78, /^There is no configuration file no\/such\.yaml.*\n$/],
]

test.each(REFUSED)('refused with one sentence: dirsyncd %j', async (argv, code, expected) => {
  const result = await dirsyncd(argv)
  expect(result.code).toBe(code)
  expect(result.stdout).toBe('')
  expect(result.stderr).toMatch(expected)
})

test('the log level debug shows where an error comes from', async () => {
  const result = await dirsyncd(['approve', '99', '--log-level', 'debug'], {
    runs: { 99: [runOf({ run: 99 })] },
  })
  expect(result.stderr).toContain('at nothingAsked')
})

const COMMANDS = ['start', 'worker', 'plan', 'sync', 'runs', 'approve', 'reject', 'check']

test.each(COMMANDS)('%s --help shows examples', async (command) => {
  const result = await dirsyncd([...command.split(' '), '--help'])
  expect(result.code).toBe(0)
  expect(result.stdout).toContain(`Usage: dirsyncd ${command}`)
  expect(result.stdout).toContain('Examples:\n  dirsyncd ')
})

test('notify says of each recipient whether a test arrived', async () => {
  const refused = { recipient: 'two@example.org\u001b[2J', delivered: false, detail: 'smtp: 450 full' }
  const tested = [
    { channel: 'ops', type: 'webhook', recipient: null, delivered: true, detail: null },
    { channel: 'mail', type: 'email', recipient: 'one@example.org', delivered: true, detail: null },
    { channel: 'mail', type: 'email', ...refused },
  ]
  expect(await dirsyncd(['notify', '--test'], { tested })).toMatchObject({
    code: 1,
    stdout:
      'ops (webhook): delivered\nmail (email, one@example.org): delivered\n' +
      'mail (email, two@example.org\\u001b[2J): not delivered, smtp: 450 full\n',
  })
  const { stdout } = await dirsyncd(['notify', '--test', '--json'], { tested })
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual(tested)
})

test('reload prints a line for each sync that was added, changed or removed, and what needs a restart', async () => {
  const reloaded: ReloadReport = {
    file: '/etc/dirsyncd/dirsyncd.yaml',
    added: ['contractors'],
    changed: [{ sync: 'corp', keys: ['users.filter', 'schedule'] }],
    removed: ['old'],
    applied: ['retention.time'],
    needRestart: ['admin.listen'],
  }
  const { code, stdout } = await dirsyncd(['reload'], { reloaded })
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'added contractors',
    'changed corp (users.filter, schedule)',
    'removed old',
    'changed retention.time',
    'not applied before a restart: admin.listen',
  ])
  expect(stdout).toContain('The daemon was started with another file, and has read that: /etc/dirsyncd/')
  expect(JSON.parse((await dirsyncd(['reload', '--json'], { reloaded })).stdout)).toEqual(reloaded)
  const none = { ...reloaded, added: [], changed: [], removed: [], applied: [], needRestart: [] }
  expect((await dirsyncd(['reload'], { reloaded: none })).stdout).toMatch(/^nothing was changed\n/)
})

function owner(command: string): OwnerInWords {
  const since = '2026-11-25T07:29:03.000Z'
  return ownerInWords({ name: 'n', pid: 2959, host: hostname(), since, command })
}

test('reload says that it waits for a daemon that is starting', async () => {
  const reloaded = { file: '', added: [], changed: [], removed: [], applied: [], needRestart: [] }
  expect(await dirsyncd(['reload'], { reloaded, waitsFor: 'dirsyncd start' })).toMatchObject({
    code: 0,
    stderr: 'Waiting for process 2959 (dirsyncd start, since 2026-11-25T07:29:03.000Z), which is starting.\n',
  })
})

async function waiting(command: string, ...argv: readonly string[]): Promise<string> {
  return (await dirsyncd(argv, { waitsFor: command })).stderr
}

test('a command says whom it waits for, and pause how to end it', async () => {
  const advice = 'To stop it now, end that process: kill 2959; nothing is lost, and the next run goes on.'
  expect(await waiting('dirsyncd sync', 'pause', 'corp')).toMatch(
    /^Waiting for process 2959 \(dirsyncd sync, since \S+\), which uses the store in \S+\. To stop/,
  )
  expect(await waiting('dirsyncd sync', 'pause', 'corp')).toContain(advice)
  expect(await waiting('dirsyncd start', 'pause', 'corp')).not.toContain('kill')
  expect(await waiting('dirsyncd sync', 'runs')).toMatch(/^Waiting for process 2959 .*\.\n$/)
  expect(await waiting('', 'quarantine', 'list')).toContain('(dirsyncd quarantine list, since')
})

test('an empty reason is none, and a long one is wrong usage', async () => {
  for (const reason of ['', ' \n'])
    expect((await dirsyncd(['pause', 'corp', '--reason', reason])).stdout).not.toContain('(')
  expect((await dirsyncd(['pause', 'corp', '--reason', 'é'.repeat(500)])).code).toBe(0)
  for (const argv of [
    ['pause', 'corp'],
    ['approve', '1'],
    ['reject', '1'],
  ])
    expect(await dirsyncd([...argv, '--reason', 'x'.repeat(1501)])).toMatchObject({
      code: 64,
      stdout: '',
      stderr: 'A reason may have at most 500 characters, and this one has 1,501.\n',
    })
})

const EMPTY_NAMES = [
  ['sync', '--config', ''],
  ['sync', '--config='],
  ['sync', 'corp', '--user', ''],
  ['sync', 'corp', '--group', ' '],
  ['runs', '--sync', ''],
  ['approve', '12', '--id', ''],
  ['undo', '12', '--id', 'u1', '--id', ''],
  ['quarantine', 'list', '--sync', ''],
  ['quarantine', 'release', '--user', ''],
  ['quarantine', 'release', '--group', ''],
  ['notify', '--test', '--channel', ''],
  ['bundle', ''],
  ['init', '--file', ''],
  ['init', '--token-file', ''],
  ['init', '--csv-users', ''],
]

test.each(EMPTY_NAMES.map((argv) => ({ argv })))(
  '$argv has an empty name, which is wrong usage',
  async ({ argv }) => {
    const { code, stdout, stderr, asked } = await dirsyncd(argv)
    expect({ code, stdout, asked }).toEqual({ code: 64, stdout: '', asked: [] })
    expect(stderr).toMatch(/ is invalid[^.]*\. It must not be empty; see dirsyncd( \w+)* --help\.\n$/)
  },
)

test('a run with more changes than a call may have arguments is shown in full', async () => {
  const changes = Array.from({ length: 140_000 }, (_, index) =>
    changeOf(createUser(`u${index}`), { number: index + 1 }),
  )
  const notice = { kind: 'user', id: 'u1', code: 'no-email', params: { from: 'a file' } } as const
  const run = runOf({ run: 12, changes, totalChanges: changes.length, notices: changes.map(() => notice) })
  const script = { runs: { 12: [run] } }
  const shown = await dirsyncd(['runs', '12', '--all'], script)
  expect(shown.stderr).toBe('')
  expect(shown.stdout.split('\n').length).toBeGreaterThan(280_000)
  const { stdout } = await dirsyncd(['runs', '12', '--json'], script)
  expect(stdout === `${JSON.stringify(run)}\n`).toBe(true)
})
