import type { Access } from '../../../../src/ui/http/access.ts'
import { buildPages } from '../../../../src/ui/pages/pages.ts'
import { signIn } from '../../../../src/ui/http/session.ts'
import type { SignInCode } from '../../../../src/ui/http/sign-in-code.ts'
import type { Watching } from '../../../../src/ui/http/watching.ts'
import type { ChangePage, ShownRun } from '../../../../src/operations/browse.ts'
import type { NumberedNotice } from '../../../../src/operations/control.ts'
import type {
  ChangeView,
  Decided,
  DecisionRequest,
  PauseRequest,
  QuarantinedChange,
  RunView,
  SyncPause,
} from '../../../../src/operations/control.ts'
import type { SyncOverview } from '../../../../src/operations/overview.ts'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import type { RecordedDecision } from '../../../../src/store/run-types.ts'
import type { Explanation } from '../../../../src/operations/story.ts'
import { type Log, silentLog } from '../../../../src/base/log/log.ts'

/** What the pages of a test show. */
export interface Shown {
  readonly syncs?: readonly SyncOverview[]
  readonly runs?: readonly RunView[]
  readonly changes?: readonly ChangeView[]
  readonly notices?: readonly NumberedNotice[]
  readonly quarantine?: readonly QuarantinedChange[]
  readonly explanation?: Explanation
  readonly watching?: Watching
  readonly access?: Access
  readonly signInCode?: SignInCode | undefined
  readonly log?: Log
  /** The pause that is there before somebody asks for one. */
  readonly paused?: SyncPause
  /** The store does not answer any more behind what is shown. */
  readonly isCut?: boolean
  /** What fails behind what is shown. */
  readonly cut?: Error
  /** What the syncs of the runs write to now. */
  readonly directoryNow?: ShownRun['directoryNow']
  /** The run that an approval starts. */
  readonly started?: number
}

export const TOKEN = 'a-long-token-of-the-test'

/** The listener's. */
export const PORT = 8080

export const WITH_TOKEN: Access = {
  hosts: [],
  port: PORT,
  token: async () => TOKEN,
  proxy: undefined,
  wrongToken: () => {},
}

/** What a program shows. */
export const BEARER = { authorization: `Bearer ${TOKEN}` }

/** What a browser shows in which ada has signed in. */
export const SIGNED_IN = { cookie: signIn('ada', { port: PORT, token: TOKEN }, false).split(';')[0]! }

/** Everything in one part, behind which something may fail. */
async function* all<T>(items: readonly T[], cut: Error | undefined) {
  if (items.length > 0) yield items
  if (cut !== undefined) throw cut
}

/** The pages on what is shown, and what they ask of the operations that change something. */
export function buildPagesForTests(shown: Shown) {
  const {
    syncs = [],
    runs = [],
    changes = [],
    notices = [],
    quarantine = [],
    explanation,
    isCut = false,
    cut = isCut ? new DirsyncdError('store-unavailable', 'The store does not answer.') : undefined,
  } = shown
  const asked: unknown[] = []
  const find = async (run: number) => runs.find((each) => each.run === run)
  const decided =
    (does: 'approve' | 'reject') =>
    async (request: DecisionRequest): Promise<Decided> => {
      asked.push([does, request])
      const decision = decisionOf({ does, by: request.by, started: shown.started ?? null })
      return { run: (await find(request.run))!, decision, paused: null, sent: null }
    }
  const recorded =
    <T>(name: string, answer: T) =>
    async (request: unknown) => {
      asked.push([name, request])
      return answer
    }
  const app = buildPages({
    control: {
      run: find,
      changes: async () => [],
      notices: async () => [],
      runs: async ({ sync }) => runs.filter((each) => sync === undefined || each.sync === sync),
      quarantine: async () => quarantine,
      explain: async () => explanation!,
      paused: async () => [],
      approve: decided('approve'),
      reject: decided('reject'),
      undo: recorded('undo', 31),
      requestRun: recorded('run', 32),
      pause: async (request: PauseRequest) => {
        asked.push(['pause', request])
        const pause = { reason: null, since: '2026-11-21T07:29:03.000Z', ...request }
        return { pause: shown.paused ?? pause, stopped: null }
      },
      resume: recorded('resume', shown.paused ?? null),
      release: async (request) => {
        asked.push(['release', request])
        const { scope } = request
        return quarantine.filter(({ kind, id }) => {
          const named = kind === 'group' ? scope?.groups : scope?.users
          return scope === undefined || named?.includes(id)
        })
      },
    },
    browse: {
      run: async (number) => {
        const run = await find(number)
        return run && { ...run, directoryNow: shown.directoryNow ?? 'same' }
      },
      changes: async (_run, _filter, { after = 0, limit }): Promise<ChangePage> => {
        const rest = changes.filter(({ number }) => number > after)
        return { changes: rest.slice(0, limit), isMore: rest.length > limit }
      },
      notices: async () => notices,
      eachChange: () => all(changes, cut),
      eachNotice: () => all(notices, cut),
    },
    overview: async () => syncs,
    watching: shown.watching ?? {
      whyNotReady: async () => undefined,
      metrics: async () => ({ contentType: 'text/plain', text: 'up 1\n' }),
    },
    access: shown.access ?? WITH_TOKEN,
    signInCode: shown.signInCode,
    log: shown.log ?? silentLog(),
  })
  return { app, asked }
}

export function overviewOf(parts: Partial<SyncOverview> = {}): SyncOverview {
  return {
    sync: 'corp',
    state: 'ok',
    underWay: null,
    lastAttempt: '2026-11-21T07:29:03.000Z',
    lastSuccess: '2026-11-21T07:29:06.500Z',
    lastFullRead: '2026-11-21T07:29:04.000Z',
    next: null,
    source: { users: 1000, groups: 40 },
    directory: { users: 1000, groups: 40 },
    failures: 0,
    error: null,
    asking: null,
    rejected: null,
    doubted: null,
    quarantined: 0,
    pending: 0,
    wait: null,
    paused: null,
    token: null,
    ...parts,
  }
}

export function decisionOf(parts: Partial<RecordedDecision> = {}): RecordedDecision {
  const at = '2026-11-21T07:29:03.000Z'
  const base = { decision: 1, does: 'approve', by: 'ada', at, reason: '', selection: {}, keys: 1 } as const
  return { ...base, started: null, ...parts }
}

export function quarantinedOf(id: string): QuarantinedChange {
  const time = '2026-11-21T07:29:03.000Z'
  return {
    sync: 'corp',
    kind: 'user',
    id,
    name: `Name of ${id}`,
    op: 'update-user',
    fingerprint: `f-${id}`,
    refusal: { code: 'quarantine', params: { answer: 'The e-mail is refused.' } },
    since: time,
    triedAt: time,
    triedAgainAt: time,
  }
}
