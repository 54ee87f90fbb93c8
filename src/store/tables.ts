import type { ColumnType, Generated, JSONColumnType, Kysely } from 'kysely'
import type { Reason } from '../core/blocked.ts'
import type { RefusalReason } from '../core/checks/check.ts'
import type { Decision, Selection } from '../core/decide.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { NoticeCode } from '../core/notice.ts'
import type { RefusedLogin } from '../source/ldap/connection/logins.ts'
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

/** The tables of schema `dirsyncd` that the query builder reaches; the migration has all. */
export interface Tables {
  'dirsyncd.leases': {
    sync: string
    epoch: BigInt
    owner: string | null
    renewed_at: NullableTimestamp
  }
  'dirsyncd.runs': {
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
    /** The kinds whose creates are looked up before they are sent. */
    look_first: Generated<readonly Kind[]>
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
  'dirsyncd.changes': {
    run: number
    number: number
    phase: Phase
    op: Op
    entry_id: string
    fingerprint: string
    change: JSONColumnType<Change>
    /** How many deletes the change counts as: one for an entry, for a group's members those taken out. */
    removes: number
    /** A delete, or a member list that takes somebody out: sent only soon after a recheck. */
    takes_away: Generated<boolean>
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
    reasons: JSONColumnType<readonly Reason[]> | null
    approved_by: string | null
    /** Read back before the rest of its operation is sent. */
    verifies: Generated<boolean>
  }
  /** The current stage of a run that applies, and its counters. Removed when the run ends. */
  'dirsyncd.applying': {
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
    /** Until then removals may be claimed: what they remove was looked up a moment ago. */
    removes_until: Timestamp
    /** Changes of the run by final state. */
    outcomes: ColumnType<Readonly<Partial<Record<ChangeState, number>>>, string | undefined, string>
  }
  /** What a worker is sending. While the row is there, the outcome of its changes is open. */
  'dirsyncd.chunks': {
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
  'dirsyncd.notices': {
    run: number
    number: number
    kind: Kind
    entry_id: string | null
    code: NoticeCode
    params: JSONColumnType<object>
  }
  'dirsyncd.quarantine': {
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
  'dirsyncd.decisions': {
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
  'dirsyncd.paused_syncs': {
    sync: string
    paused_by: string
    reason: string | null
    since: Timestamp
  }
  'dirsyncd.settings': {
    name: string
    value: string
  }
  'dirsyncd.refused_logins': RefusedLogin
  /** What goes on until it ends, and what was told of it. */
  'dirsyncd.conditions': {
    sync: string
    event: string
    since: Timestamp
    amount: number
    told_at: Timestamp
    ends_at: NullableTimestamp
  }
  'dirsyncd.notifications': {
    notification: Generated<string>
    event: string
    sync: string | null
    run: number | null
    subject: string
    text: string
    created_at: Timestamp
  }
  'dirsyncd.deliveries': {
    notification: string
    channel: string
    state: Generated<'waiting' | 'delivered' | 'given-up'>
    attempts: Generated<number>
    /** Not to be tried, nor the later ones of its channel, before this time. */
    next_at: Timestamp
    /** Why the last attempt failed. */
    detail: string | null
  }
}

export type Db = Kysely<Tables>
