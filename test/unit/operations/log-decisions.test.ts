import { expect, test } from 'vitest'
import type { QuarantinedChange, RunSummary, SyncPause } from '../../../src/operations/control.ts'
import type { LocalControl } from '../../../src/operations/local.ts'
import { loggingDecisions } from '../../../src/operations/log-decisions.ts'
import type { RecordedDecision } from '../../../src/store/run-types.ts'
import { createLog } from '../../../src/base/log/log.ts'

const PAUSE: SyncPause = { sync: 'corp', by: 'ada', reason: null, since: '2026-11-21T07:29:03.000Z' }
const RUN = { run: 7, sync: 'corp' } as RunSummary
const decided = (does: RecordedDecision['does']) => ({ run: RUN, decision: { does, keys: 3 }, paused: null })

/** What is logged of one operation, on operations that answer as given. */
async function loggedOf(
  operate: (control: LocalControl) => Promise<unknown>,
  {
    pause = PAUSE,
    resumed = PAUSE,
    released = 2,
  }: { pause?: SyncPause; resumed?: SyncPause | null; released?: number } = {},
): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    destination: { write: (line) => lines.push(JSON.parse(line)) },
    isConfigured: () => false,
  })
  const control = {
    approve: async () => decided('approve'),
    reject: async () => decided('reject'),
    undo: async () => 31,
    pause: async () => ({ pause, stopped: null }),
    resume: async () => resumed,
    release: async () => Array.from({ length: released }, () => ({}) as QuarantinedChange),
  } as unknown as LocalControl
  await operate(loggingDecisions(control, log))
  return lines.map(({ level: _level, time: _time, ...line }) => line)
}

const BY = { by: 'ada@example.org', msg: 'an operator decided' }
const by = BY.by

test.each([
  [
    (control: LocalControl) => control.approve({ run: 7, by, reason: 'Ben left' }),
    { decision: 'approve', sync: 'corp', run: 7, keys: 3 },
  ],
  [
    (control: LocalControl) => control.reject({ run: 7, by, ids: ['u1'] }),
    { decision: 'reject', sync: 'corp', run: 7, keys: 3 },
  ],
  [
    (control: LocalControl) => control.undo({ run: 7, by, mode: 'sync', part: {} }),
    { decision: 'undo', run: 7 },
  ],
  [(control: LocalControl) => control.resume({ sync: 'corp', by }), { decision: 'resume', sync: 'corp' }],
  [
    (control: LocalControl) => control.release({ sync: 'corp', by }),
    { decision: 'release', sync: 'corp', changes: 2 },
  ],
  [(control: LocalControl) => control.release({ by }), { decision: 'release', changes: 2 }],
])('a decision is logged with the name of the operator: %s', async (operate, line) => {
  expect(await loggedOf(operate)).toEqual([{ ...line, ...BY }])
})

function pauseCorp(control: LocalControl): Promise<unknown> {
  return control.pause({ sync: 'corp', by: 'ada' })
}

test('a pause is logged under the name that is recorded with it', async () => {
  expect(await loggedOf(pauseCorp)).toEqual([{ decision: 'pause', sync: 'corp', by: 'ada', msg: BY.msg }])
  expect(await loggedOf(pauseCorp, { pause: { ...PAUSE, by: 'ben' } })).toEqual([])
})

test('what decides nothing is not logged', async () => {
  expect(await loggedOf((control) => control.resume({ sync: 'corp', by }), { resumed: null })).toEqual([])
  expect(await loggedOf((control) => control.release({ by }), { released: 0 })).toEqual([])
  expect(await loggedOf((control) => control.undo({ run: 7, by, mode: 'plan', part: {} }))).toEqual([])
})
