import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { Reason } from '../core/blocked.ts'
import type { RefusalReason } from '../core/checks/refusals.ts'
import type { Decision, Selection } from '../core/decide.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { NoticeCode } from '../core/notice.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { Change, Op } from '../core/plan/change.ts'
import type { ConfigurationChange } from '../core/plan/configuration.ts'
import type { Phase } from '../core/plan/changes.ts'
import type { Scope } from '../core/within.ts'
import type {
  ChangeState,
  ReadEvidence,
  RunCounts,
  RunMode,
  RunState,
  RunTrigger,
  StoredBlock,
  Undo,
} from './run-types.ts'

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** A bigint column; node-postgres gives it as text, the store reads it as a number. */
type BigInt = ColumnType<string, number | string, number | string>

interface LeasesTable {
  sync: string
  epoch: BigInt
  owner: string | null
  renewed_at: NullableTimestamp
}

export interface RunsTable {
  run: Generated<number>
  sync: string
  /** What the sync writes to; with another directory the sync starts anew. */
  target: string
  mode: RunMode
  trigger: RunTrigger
  /** Limits what the run changes; null where it is of all entries. */
  scope: JSONColumnType<Scope> | null
  /** Set where the run puts back what another one did. */
  undo: JSONColumnType<Undo> | null
  state: RunState
  epoch: number | null
  directory_moved: Generated<boolean>
  /** The kinds whose creates are looked up before they are sent. */
  look_first: ColumnType<readonly Kind[], readonly Kind[] | undefined, readonly Kind[]>
  counts: JSONColumnType<RunCounts> | null
  /** Null where source and directory were not read. */
  evidence: JSONColumnType<ReadEvidence> | null
  blocks: JSONColumnType<readonly StoredBlock[]> | null
  /** The run with the rows of the changes that this run blocks: its own number, or that of one that blocked the same. */
  blocked_in: number | null
  blocked_digest: string | null
  digest: string | null
  /** Which options are not as in the last good run. */
  configuration_change: JSONColumnType<ConfigurationChange> | null
  error: string | null
  error_code: ErrorCode | null
  /** Set by a worker that met something that must end the run. */
  stop_code: ErrorCode | null
  stop_reason: string | null
  /** How many runs in a row before this one ended with their process, and when this one may begin because of that. */
  interruptions: Generated<number>
  /** Its process left it to the next run on purpose. */
  left_orderly: Generated<boolean>
  begin_after: NullableTimestamp
  /** How many rows of `changes` and `notices` the run still has. */
  stored_changes: Generated<number>
  stored_blocked: Generated<number>
  stored_notices: Generated<number>
  requested_at: Timestamp
  started_at: NullableTimestamp
  /** When both sides had been read. */
  read_at: NullableTimestamp
  /** When its changes began to be applied. */
  applying_at: NullableTimestamp
  finished_at: NullableTimestamp
}

interface ChangesTable {
  run: number
  number: number
  phase: Phase
  op: Op
  entry_id: string
  fingerprint: string
  change: JSONColumnType<Change>
  /** How many deletes the change counts as: one for an entry, for a group's members those taken out. */
  removes: number
  state: Generated<ChangeState>
  /** Failed twice or was refused: left to the end of the run. */
  retry: Generated<boolean>
  attempts: Generated<number>
  /** How often the service answered 403. */
  refusals: Generated<number>
  /** An earlier attempt has no outcome: nobody knows whether the API did it. */
  unsure: Generated<boolean>
  /** The open chunk whose worker may be sending the change now. */
  chunk: string | null
  /** Not to be tried again before this time. */
  next_at: NullableTimestamp
  detail: string | null
  /** The HTTP status of the last answer. */
  status: number | null
  /** A create that found its entry, and not because an earlier request of this program had created it. */
  was_there: Generated<boolean>
  /** Why it is blocked. */
  reasons: JSONColumnType<readonly Reason[]> | null
  /** An operator approved it. */
  approved: Generated<boolean>
  /** The operator who approved it. */
  approved_by: string | null
  /** Read back before the rest of its operation is sent. */
  verifies: Generated<boolean>
}

/** The current stage of a run that applies, and its counters. Removed when the run ends. */
export interface ApplyingTable {
  run: number
  phase: Phase
  retry: boolean
  /** Only the changes of this operation that are read back before the rest. */
  verifies: Op | null
  /** The last change that was claimed since the stage began, or began again. */
  cursor: Generated<number>
  /** Changes of the stage that are not final. */
  pending: number
  /** Answers 403 since the last change that was applied. */
  refused_in_row: Generated<number>
  /** Changes of the run by final state. */
  outcomes: ColumnType<Readonly<Partial<Record<ChangeState, number>>>, string | undefined, string>
}

/** What a worker is sending. While the row is there, the outcome of its changes is open. */
interface ChunksTable {
  chunk: Generated<string>
  run: number
  /** Numbers of changes. */
  first: number
  last: number
  /** Names the process. */
  worker: string
  /** Rises while the worker is alive. */
  heartbeats: Generated<number>
  intent_at: Timestamp
}

interface TargetsTable {
  target: string
  /** No request of a change is sent before this time. */
  not_before: Timestamp
  /** `limited`: the service asked for it with 429. `outage`: it does not answer. */
  why: 'limited' | 'outage'
  /** Outages since the last answer. */
  outages: Generated<number>
}

interface JournalTable {
  id: Generated<string>
  run: number
  number: number
  sync: string
  target: string
  op: Op
  entry_id: string
  fingerprint: string
  attempt: number
  worker: string
  before: JSONColumnType<object> | null
  removes: number
  intent_at: Timestamp
  outcome: string
  status: number | null
  requests: number | null
  detail: string | null
  /** A later run saw it in the directory, or it was put into quarantine: it counts no more for convergence. */
  settled: Generated<boolean>
  /** A create whose entry the next run did not see in the directory. */
  missed: Generated<boolean>
  approved: Generated<boolean>
  approved_by: string | null
}

interface NoticesTable {
  run: number
  number: number
  kind: Kind
  entry_id: string | null
  code: NoticeCode
  params: JSONColumnType<object>
}

/** What is searched in the changes of a run, some in each row; see `change-texts.ts`. */
interface ChangeTextsTable {
  run: number
  /** Numbers of changes. */
  first: number
  last: number
  ops: Op[]
  texts: string
}

interface QuarantineTable {
  sync: string
  target: string
  fingerprint: string
  op: Op
  entry_id: string
  /** Null also where only the journal knew the change. */
  name: string | null
  /** Refused by the service, or applied twice without effect. */
  code: Generated<RefusalReason['code']>
  params: JSONColumnType<RefusalReason['params']>
  since: Timestamp
  tried_at: Timestamp
}

/** What a check keeps for the next run. */
interface CheckStatesTable {
  sync: string
  target: string
  name: string
  value: JSONColumnType<object>
  bytes: Buffer | null
}

/** Keys with what is true of them, packed. */
interface KeySetsTable {
  digest: string
  packed: Buffer
}

/** The questions and decisions of a sync, a target and an origin. */
interface LedgersTable {
  sync: string
  target: string
  origin: string
  /** The decisions up to this one are in it. */
  folded: BigInt
  key_set: string | null
  /** How many of its questions no operator has decided. */
  open: Generated<number>
  /** The newest run that asked. */
  asked_in: number | null
}

export interface DecisionsTable {
  decision: Generated<string>
  sync: string
  target: string
  origin: string
  run: number
  does: Decision['does']
  selection: JSONColumnType<Selection>
  keys: number
  started: number | null
  decided_by: string
  reason: string
  decided_at: Timestamp
}

/** What a run put before the operator. */
interface ShownKeysTable {
  run: number
  key_set: string
}

/** What came of reading back the first changes of an operation from a target. */
export interface VerificationsTable {
  sync: string
  target: string
  op: Op
  /** Several went out in one request. */
  in_batches: boolean
  verdict: 'passed' | 'failed'
  run: number
  judged_at: Timestamp
}

interface PausedSyncsTable {
  sync: string
  paused_by: string
  reason: string | null
  since: Timestamp
}

interface ResumedSyncsTable {
  sync: string
  at: Timestamp
}

interface SettingsTable {
  name: string
  value: string
}

interface RefusedLoginsTable {
  reader: string
  message: string
  salt: string
  hash: string
  times: number
  secrets: number
  at: ColumnType<Date, Date, Date>
}

interface TokenLivesTable {
  /** Scheme, host and port of the service. */
  origin: string
  /** Where the access token is, such as `file /run/secrets/token`. */
  place: string
  /** The longest remaining life that the service ever reported for it. */
  longest_seconds: number
  expires_at: Date
  warned_at: Date | null
}

/** What goes on until it ends, and what was told of it. */
export interface ConditionsTable {
  sync: string
  event: string
  since: Timestamp
  amount: number
  told_at: Timestamp
  ends_at: NullableTimestamp
}

interface NotificationsTable {
  notification: Generated<string>
  event: string
  sync: string | null
  run: number | null
  subject: string
  text: string
  created_at: Timestamp
}

interface DeliveriesTable {
  notification: string
  channel: string
  state: Generated<'waiting' | 'delivered' | 'given-up'>
  attempts: Generated<number>
  /** Not to be tried, nor the later ones of its channel, before this time. */
  next_at: Timestamp
  /** Why the last attempt failed. */
  detail: string | null
}

/** The tables of schema `dirsyncd`, as Kysely sees them. */
export interface Tables {
  'dirsyncd.leases': LeasesTable
  'dirsyncd.runs': RunsTable
  'dirsyncd.changes': ChangesTable
  'dirsyncd.change_texts': ChangeTextsTable
  'dirsyncd.applying': ApplyingTable
  'dirsyncd.chunks': ChunksTable
  'dirsyncd.targets': TargetsTable
  'dirsyncd.journal': JournalTable
  'dirsyncd.notices': NoticesTable
  'dirsyncd.quarantine': QuarantineTable
  'dirsyncd.check_states': CheckStatesTable
  'dirsyncd.key_sets': KeySetsTable
  'dirsyncd.ledgers': LedgersTable
  'dirsyncd.decisions': DecisionsTable
  'dirsyncd.shown_keys': ShownKeysTable
  'dirsyncd.verifications': VerificationsTable
  'dirsyncd.paused_syncs': PausedSyncsTable
  'dirsyncd.resumed_syncs': ResumedSyncsTable
  'dirsyncd.settings': SettingsTable
  'dirsyncd.refused_logins': RefusedLoginsTable
  'dirsyncd.token_lives': TokenLivesTable
  'dirsyncd.conditions': ConditionsTable
  'dirsyncd.notifications': NotificationsTable
  'dirsyncd.deliveries': DeliveriesTable
}
