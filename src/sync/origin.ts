import { copyInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { CHECKS, checksOfUndo } from '../core/checks/checks.ts'
import { type Facts, NO_RECHECKS, type Rechecks, type RunFacts, type States } from '../core/checks/check.ts'
import type { Decisions } from '../core/decisions.ts'
import type { Snapshots } from '../core/diff/differences.ts'
import type { DiffRules } from '../core/diff/rules.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Recheck, Sighting } from '../core/entries/recheck.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import { SourceUsers } from '../core/entries/users.ts'
import { noticesOf } from '../core/diff/notices.ts'
import type { Notice } from '../core/notice.ts'
import { createChanges } from '../core/order.ts'
import { type Key, wholeOf } from '../core/keys.ts'
import type { ScopeIds } from '../core/within.ts'
import type { DeleteReason } from '../core/plan/change.ts'
import { refuseIncompleteRead } from '../core/plan/incomplete-read.ts'
import { compileSelections } from '../core/plan/selection.ts'
import { judgeServer } from '../core/plan/server.ts'
import { EmailAdvice } from '../core/plan/undo/email-advice.ts'
import { LaterAttempts } from '../core/plan/undo/later-attempts.ts'
import { UndoDraft } from '../core/plan/undo/undo-draft.ts'
import type { Source } from '../source/source.ts'
import { bothOrNeither } from '../base/both.ts'
import { recheckLosses } from './recheck-losses.ts'
import type { Undo } from '../store/run-types.ts'
import type { doneChanges, laterAttempts } from '../store/undoable.ts'
import type { History, Job } from './run-store.ts'

type WhyDeleted = (kind: Kind, id: string) => DeleteReason

/** What a run works for: the source of its sync, or an undo. Each has checks and decisions of its own. */
export interface Origin {
  readonly name: string
  readonly checks: typeof CHECKS
  /** By which source and directory are compared. */
  readonly rules: DiffRules
  /** Source and directory, complete; an incomplete read is an error. */
  read(states: States, signal: AbortSignal): Promise<Snapshots>
  /** What the checks see besides the snapshots. */
  seen(job: Job, before: Before): Omit<RunFacts, keyof Facts | 'rechecks'>
  /**
   * A second look at entries that would go. Throws where the read was not complete after all.
   *
   * @param waiting only these are looked up again; for the others, the earlier answers stay
   */
  recheck(facts: RunFacts, signal: AbortSignal, waiting?: ScopeIds): Promise<Rechecks>
  whyDeleted(rechecks: Rechecks): WhyDeleted
  notices(job: Job, facts: RunFacts, signal: AbortSignal): Promise<readonly Notice[]>
}

interface Before {
  readonly snapshots: Snapshots
  readonly states: States
  readonly history: History
  readonly decisions: Decisions
}

interface SyncDeps {
  readonly source: Pick<Source, 'read' | 'readIds' | 'readDns'>
  readonly readDirectory: (signal: AbortSignal, table: UserTable) => Promise<DirectorySnapshot>
  readonly table: UserTable
  readonly rules: DiffRules
  /** An operator asked for the run, not the schedule. */
  readonly isAsked: boolean
}

export class SyncOrigin implements Origin {
  readonly name = 'sync'
  readonly checks = CHECKS
  readonly rules: DiffRules
  readonly #deps: SyncDeps

  constructor(deps: SyncDeps) {
    this.rules = deps.rules
    this.#deps = deps
  }

  async read({ server }: States, signal: AbortSignal): Promise<Snapshots> {
    const { source, readDirectory, isAsked, table } = this.#deps
    const preferred = server && { url: server.url, address: server.address }
    const [read, directory] = await bothOrNeither(
      (both) => [source.read(both, { preferred, isAsked, table }), readDirectory(both, table)],
      signal,
    )
    return { source: read, directory }
  }

  seen(job: Job, { snapshots, states, history, decisions }: Before): ReturnType<Origin['seen']> {
    const { grace, limits, options, run } = job
    const { server: evidence } = snapshots.source
    const { now } = history
    const isAccepted = (token: string): boolean => decisions.isApproved(['fact', 'server', token])
    const server = evidence && judgeServer(states.server, evidence, { ...grace, now, isAccepted })
    const isConfirming = server?.scope === 'confirmed-deletes'
    return {
      run,
      now,
      limits,
      options,
      grace: {
        deleteAfter: grace.deleteAfter,
        confirmAfterMs: isConfirming ? grace.confirmAfterMs : undefined,
      },
      states,
      server,
      refusals: history.refusals,
      journal: { ...history.journal, deleted: evidence === undefined ? NOBODY : history.journal.deleted },
    }
  }

  /** None where the policy or an unreadable entry forbids deletes, or the server is older. */
  async recheck(facts: RunFacts, signal: AbortSignal, waiting?: ScopeIds): Promise<Rechecks> {
    const { wanted, server, rechecks: before } = facts
    const { source } = wanted.snapshots
    const entries = { ...before.entries }
    if (wanted.rules.policy === 'mirror' && source.unreadable === 0)
      for (const kind of ['user', 'group'] as const) {
        const ids = [...wanted.absent[kind]].filter((id) => mayGo(facts, waiting, [kind, id, 'delete']))
        if (ids.length === 0) continue
        const rechecks = await this.#deps.source.readIds(kind, ids, signal)
        entries[kind] = await inTurns(statesIn(before.entries[kind], rechecks), signal)
      }
    // An older server that catches up between the two reads is not to blame for its first answer.
    if (server?.scope === 'nothing') return { entries, removals: new Map() }
    if (waiting === undefined) refuseIncompleteRead(source, entries)
    const removed = await inTurns(removedMembers(facts, waiting), signal)
    const removals = await recheckLosses(this.#deps.source, source, removed, signal)
    return { entries, removals: new Map([...before.removals, ...removals]) }
  }

  notices({ scope }: Job, facts: RunFacts, signal: AbortSignal): Promise<readonly Notice[]> {
    return inTurns(noticesIn(facts, scope), signal)
  }

  whyDeleted({ entries }: Rechecks): WhyDeleted {
    return (kind, id) => {
      const state = entries[kind].get(id)
      if (state === 'disabled') return state
      return state === 'out-of-scope' ? 'left-filter' : 'gone'
    }
  }
}

function* noticesIn(facts: RunFacts, scope?: ScopeIds): Steps<readonly Notice[]> {
  return yield* noticesOf(facts, yield* createChanges(facts.left, () => 'gone'), scope)
}

function* statesIn(
  before: ReadonlyMap<string, Sighting>,
  rechecks: ReadonlyMap<string, Recheck>,
): Steps<ReadonlyMap<string, Sighting>> {
  const states = yield* copyInSteps(before)
  yield* forEachInSteps(rechecks, ([id, { state }]) => states.set(id, state))
  return states
}

const NOBODY = { user: new Set<string>(), group: new Set<string>() }

/** Whether an absent entry waits to be deleted, or to leave the groups before its delete. */
function mayGo({ left }: RunFacts, waiting: ScopeIds | undefined, key: Key): boolean {
  const [kind, id] = key
  if (waiting === undefined || waiting[kind].has(id)) return true
  return kind === 'user' && waiting.group.size > 0 && left.has(wholeOf(key)) && !left.has(key)
}

/** By group, the ids of the members that would be taken out of it. */
function* removedMembers(
  { left, wanted }: RunFacts,
  waiting?: ScopeIds,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const removed = new Map<string, readonly string[]>()
  for (const group of wanted.members.keys()) {
    if (waiting?.group.has(group) === false) continue
    const { removed: some } = yield* left.membersIn(group)
    const there = some.filter((id) => !left.has(['user', id, 'delete']))
    if (there.length > 0) removed.set(group, there)
  }
  return removed
}

interface UndoDeps extends Pick<SyncDeps, 'table' | 'readDirectory'> {
  readonly undo: Undo
  /** Those of the sync: only what protects entries, and whether members are written, counts for an undo. */
  readonly rules: DiffRules
  /** The changes of the undone run, in order. */
  readonly doneChanges: () => ReturnType<typeof doneChanges>
  /** Creates and deletes of later runs, in order. */
  readonly laterAttempts: () => ReturnType<typeof laterAttempts>
}

/** The source is the directory as it was before a run. */
export class UndoOrigin implements Origin {
  readonly name: string
  readonly checks: Origin['checks']
  readonly rules: DiffRules
  readonly #deps: UndoDeps
  #rechecks: Rechecks = NO_RECHECKS
  #later: LaterAttempts | undefined

  constructor(deps: UndoDeps) {
    this.#deps = deps
    this.name = `undo ${deps.undo.run}`
    this.checks = checksOfUndo(deps.undo.run)
    this.rules = rulesOfUndo(deps.rules)
  }

  async read(_states: unknown, signal: AbortSignal): Promise<Snapshots> {
    const { undo, rules, table, readDirectory, doneChanges, laterAttempts } = this.#deps
    const directory = await readDirectory(signal, table)
    this.#later = new LaterAttempts(undo.run, await laterAttempts())
    const draft = new UndoDraft({
      ...undo,
      directory,
      later: this.#later,
      users: new SourceUsers(table),
      writesMembers: rules.membership === 'write',
      selections: compileSelections(rules.entries),
    })
    for await (const some of doneChanges()) {
      signal.throwIfAborted()
      for (const { change, wasThere } of some) {
        if (wasThere) draft.addFound(change)
        else draft.add(change)
      }
    }
    const { source, sightings } = await inTurns(draft.finish(), signal)
    this.#rechecks = { entries: sightings, removals: new Map() }
    return { source, directory: { ...directory, notices: [] } }
  }

  /** The earlier directory is the source here, so it has not shrunk, and nothing of it is refused or doubted. */
  seen(job: Job, { snapshots, history }: Before): ReturnType<Origin['seen']> {
    const { user, group } = snapshots.source.seen
    return {
      run: job.run,
      now: history.now,
      limits: job.limits,
      options: {},
      grace: { deleteAfter: {}, confirmAfterMs: undefined },
      states: { size: { users: user.size, groups: group.size } },
      server: undefined,
      refusals: [],
      journal: history.journal,
    }
  }

  async recheck(): Promise<Rechecks> {
    return this.#rechecks
  }

  async notices(_job: Job, facts: RunFacts, signal: AbortSignal): Promise<readonly Notice[]> {
    const { undo, doneChanges } = this.#deps
    const notices = await inTurns(noticesIn(facts), signal)
    const { source, directory } = facts.wanted.snapshots
    const advice = new EmailAdvice({ ...undo, directory, later: this.#later!, users: source.users }, notices)
    if (advice.isAsked)
      for await (const some of doneChanges()) for (const { change } of some) advice.add(change)
    return inTurns(advice.advised(), signal)
  }

  whyDeleted(): () => 'undone' {
    return () => 'undone'
  }
}

/** Lists, policy and domains are about what a sync takes from its source: an undo ignores them. */
function rulesOfUndo({ membership, emails }: DiffRules): DiffRules {
  const base = {
    policy: 'mirror',
    allowedDomains: [],
    membership: membership === 'write' ? 'write' : 'off',
  } as const
  return emails === undefined ? base : { ...base, emails }
}
