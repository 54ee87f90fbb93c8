import { forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { ANOMALIES, GUARDS, RULES } from '../core/checks/checks.ts'
import type { Check } from '../core/checks/check.ts'
import type { Rechecks, RunFacts } from '../core/checks/run-facts.ts'
import type { States } from '../core/checks/states.ts'
import type { Decisions } from '../core/decisions.ts'
import type { Snapshots } from '../core/diff/differences.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Facts } from '../core/checks/check.ts'
import type { Sighting } from '../core/entries/recheck.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import { noticesOf } from '../core/diff/notices.ts'
import type { Notice } from '../core/notice.ts'
import { createChanges } from '../core/order.ts'
import type { ScopeIds } from '../core/within.ts'
import type { DeleteReason } from '../core/plan/change.ts'
import { refuseIncompleteRead } from '../core/plan/incomplete-read.ts'
import { judgeServer } from '../core/plan/server.ts'
import type { Source } from '../source/source.ts'
import { bothOrNeither } from './both.ts'
import { recheckLosses } from './recheck-losses.ts'
import type { Job } from './run-store.ts'
import type { History } from './run-store.ts'

type WhyDeleted = (kind: Kind, id: string) => DeleteReason

/** What a run works for: the source of its sync, or an undo. Each has checks and decisions of its own. */
export interface Origin {
  readonly name: string
  readonly rules: readonly Check<RunFacts>[]
  readonly anomalies: readonly Check<RunFacts>[]
  readonly guards: readonly Check<RunFacts>[]
  /** Source and directory, complete; an incomplete read is an error. */
  read(states: States, signal: AbortSignal): Promise<Snapshots>
  /** What the checks see besides the snapshots. */
  seen(job: Job, before: Before): Omit<RunFacts, keyof Facts | 'rechecks'>
  /** A second look at entries that would go. Throws where the read was not complete after all. */
  recheck(facts: RunFacts, signal: AbortSignal): Promise<Rechecks>
  whyDeleted(rechecks: Rechecks): WhyDeleted
  notices(job: Job, facts: RunFacts, signal: AbortSignal): Promise<readonly Notice[]>
}

export interface Before {
  readonly snapshots: Snapshots
  readonly states: States
  readonly history: History
  readonly decisions: Decisions
}

interface Deps {
  readonly source: Pick<Source, 'read' | 'readIds' | 'readDns'>
  readonly readDirectory: (signal: AbortSignal, table: UserTable) => Promise<DirectorySnapshot>
  readonly table: UserTable
  /** An operator asked for the run, not the schedule. */
  readonly isAsked: boolean
}

export class SyncOrigin implements Origin {
  readonly name = 'sync'
  readonly rules = RULES
  readonly anomalies = ANOMALIES
  readonly guards = GUARDS
  readonly #deps: Deps

  constructor(deps: Deps) {
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
    const { grace, rules, limits, options, run } = job
    const { server: evidence } = snapshots.source
    const { now } = history
    const isAccepted = (token: string): boolean => decisions.isApproved(['fact', 'server', token])
    const server = evidence && judgeServer(states.server, evidence, { ...grace, now, isAccepted })
    const isConfirming = server?.scope === 'confirmed-deletes'
    return {
      run,
      now,
      policy: rules.policy,
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
  async recheck(facts: RunFacts, signal: AbortSignal): Promise<Rechecks> {
    const { wanted, policy, server } = facts
    const { source } = wanted.snapshots
    const entries: Record<Kind, ReadonlyMap<string, Sighting>> = { user: new Map(), group: new Map() }
    if (policy === 'mirror' && source.unreadable === 0)
      for (const kind of ['user', 'group'] as const) {
        const ids = [...wanted.absent[kind]]
        if (ids.length > 0) entries[kind] = await this.#statesOf(kind, ids, signal)
      }
    // An older server that catches up between the two reads is not to blame for its first answer.
    if (server?.scope !== 'nothing') refuseIncompleteRead(source, entries)
    const removals =
      server?.scope === 'nothing'
        ? new Map()
        : await recheckLosses(this.#deps.source, source, await inTurns(removedMembers(facts), signal), signal)
    return { entries, removals }
  }

  async #statesOf(
    kind: Kind,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Sighting>> {
    const rechecks = await this.#deps.source.readIds(kind, ids, signal)
    const states = new Map<string, Sighting>()
    await inTurns(
      forEachInSteps(rechecks, ([id, { state }]) => states.set(id, state)),
      signal,
    )
    return states
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

export function* noticesIn(facts: RunFacts, scope?: ScopeIds): Steps<readonly Notice[]> {
  return yield* noticesOf(facts, yield* createChanges(facts.left, () => 'gone'), scope)
}

const NOBODY = { user: new Set<string>(), group: new Set<string>() }

/** By group, the ids of the members that would be taken out of it. */
function* removedMembers({ left, wanted }: RunFacts): Steps<ReadonlyMap<string, readonly string[]>> {
  const removed = new Map<string, readonly string[]>()
  for (const group of wanted.members.keys()) {
    const { removed: some } = yield* left.membersIn(group)
    const there = some.filter((id) => !left.has(['user', id, 'delete']))
    if (there.length > 0) removed.set(group, there)
  }
  return removed
}
