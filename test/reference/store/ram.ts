import type { Kind } from '../directory/entry.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { Baseline } from '../plan/baseline.ts'
import type { Change, partFingerprints } from '../plan/change.ts'
import type { PlannedChange } from '../plan/changes.ts'
import type { Options } from '../plan/configuration.ts'
import type {
  BreachSummary,
  choices,
  Decision,
  decidedChanges,
  holdAfter,
  undecided,
} from '../plan/decide.ts'
import type { Absence } from '../plan/grace.ts'
import type { GUARDED, heldChanges } from '../plan/guards.ts'
import type { Withheld } from '../plan/inputs.ts'
import type { leftOut } from '../plan/left-out.ts'
import type { opsOfPart, Part } from '../plan/part/part.ts'
import type { LastGood } from './last-good.ts'
import type { NewRun } from './runs.ts'
import type { ChangeState, HoldState, RunCounts, RunState } from './run-types.ts'

/** The functions of a decider that its store calls: the RAM of one decider never runs code of another one. */
export interface Core {
  readonly partFingerprints: typeof partFingerprints
  readonly choices: typeof choices
  readonly decidedChanges: typeof decidedChanges
  readonly holdAfter: typeof holdAfter
  readonly undecided: typeof undecided
  readonly heldChanges: typeof heldChanges
  readonly leftOut: typeof leftOut
  readonly opsOfPart: typeof opsOfPart
  readonly GUARDED: typeof GUARDED
}

export interface Run extends Required<{ [K in keyof NewRun]: Exclude<NewRun[K], undefined> }> {
  readonly run: number
  readonly sync: string
  readonly target: string
  state: RunState
  isFinished: boolean
  storedChanges: number
  counts: RunCounts | null
  digest: string | null
  breaches: readonly BreachSummary[]
  hold: HoldState | null
  hold_run: number | null
  hold_expires_at: Date | null
  decisions: readonly { readonly decision: Decision; readonly by: string; readonly part?: Part | undefined }[]
}

export interface Row extends PlannedChange {
  readonly op: Change['op']
  readonly entry_id: string
  readonly approved: boolean
  state: ChangeState
  refusals: number
  wasThere: boolean
  unsure: boolean
  createdBefore: boolean
}

export interface Write {
  readonly run: number
  readonly op: Change['op']
  readonly entry_id: string
  readonly fingerprint: string
  readonly removes: number
  readonly approved: boolean
  readonly at: number
  readonly outcome: ChangeState
  readonly status: number | undefined
  isSettled: boolean
  isMissed: boolean
}

export interface StoredDecision {
  decision: Decision | 'left-out'
  run: number
  by: string
}

const DAY_MS = 86_400_000

/** States in which the directory is as the change wants it. */
export const DONE: ReadonlySet<ChangeState> = new Set(['applied', 'found', 'already'])

/** The store of one sync on one target. */
export class Ram {
  readonly core: Core
  now = 1_700_000_000_000
  readonly runs: Run[] = []
  readonly changes = new Map<number, Row[]>()
  readonly notices = new Map<number, Notice[]>()
  readonly journal: Write[] = []
  readonly decisions = new Map<string, StoredDecision>()
  readonly quarantine = new Map<string, Withheld & { readonly at: number }>()
  readonly absences: Record<Kind, Map<string, Absence>> = { user: new Map(), group: new Map() }
  readonly baselines: Partial<Record<Kind, Baseline>> = {}
  /** By run, the fingerprints that each breach of its hold names. */
  readonly held = new Map<number, readonly (readonly string[])[]>()
  good: { readonly run: number; readonly good: LastGood; readonly options: Options } | undefined

  constructor(core: Core) {
    this.core = core
  }

  run(number: number): Run {
    return this.runs[number - 1]!
  }

  rowsOf(run: number): Row[] {
    return this.changes.get(run) ?? []
  }

  isRecent(at: number): boolean {
    return at > this.now - DAY_MS
  }

  recentWrites(): Write[] {
    return this.journal.filter(({ at }) => this.isRecent(at))
  }

  /** Answers the one statement of a decider, `SELECT now()`. */
  getExecutor() {
    const executor = {
      transformQuery: (node: unknown) => node,
      compileQuery: () => ({}),
      executeQuery: async () => ({ rows: [{ now: new Date(this.now) }] }),
      withPlugins: () => executor,
    }
    return executor
  }
}
