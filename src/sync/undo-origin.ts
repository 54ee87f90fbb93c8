import { inTurns } from '../base/turns.ts'
import { guardsOfUndo, RULES_OF_UNDO } from '../core/checks/checks.ts'
import type { Check } from '../core/checks/check.ts'
import { NO_RECHECKS, type Rechecks, type RunFacts } from '../core/checks/run-facts.ts'
import type { Snapshots } from '../core/diff/differences.ts'
import type { DiffRules } from '../core/diff/rules.ts'
import { SourceUsers } from '../core/entries/users.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import type { Change } from '../core/plan/change.ts'
import { EmailAdvice, noticesOfUndo } from '../core/plan/undo/email-advice.ts'
import type { Notice } from '../core/notice.ts'
import { compileSelections } from '../core/plan/selection.ts'
import { type LaterAttempt, LaterAttempts } from '../core/plan/undo/later-attempts.ts'
import { UndoDraft, type UndoFacts, type UndoSides } from '../core/plan/undo/undo-draft.ts'
import { type Before, noticesIn, type Origin } from './origin.ts'
import type { Job } from './run-store.ts'

interface Deps {
  readonly undo: Pick<UndoFacts, 'run' | 'part'>
  /** Those of the sync: only what protects entries, and whether members are written, counts for an undo. */
  readonly rules: DiffRules
  readonly table: UserTable
  readonly readDirectory: (signal: AbortSignal, table: UserTable) => Promise<DirectorySnapshot>
  /** The changes of the undone run, in order. */
  readonly doneChanges: () => AsyncIterable<
    readonly { readonly change: Change; readonly wasThere: boolean }[]
  >
  /** Creates and deletes of later runs, in order. */
  readonly laterAttempts: () => Promise<readonly LaterAttempt[]>
}

/** The source is the directory as it was before a run. */
export class UndoOrigin implements Origin {
  readonly name: string
  readonly rules = RULES_OF_UNDO
  readonly anomalies: readonly Check<RunFacts>[] = []
  readonly guards: readonly Check<RunFacts>[]
  readonly #deps: Deps
  #rechecks: Rechecks = NO_RECHECKS
  #later: LaterAttempts | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.name = `undo ${deps.undo.run}`
    this.guards = guardsOfUndo(deps.undo.run)
  }

  async read(_states: unknown, signal: AbortSignal): Promise<Snapshots> {
    const { readDirectory, table, laterAttempts, undo } = this.#deps
    const directory = await readDirectory(signal, table)
    const later = new LaterAttempts(undo.run, await laterAttempts())
    this.#later = later
    const { source, sightings } = await this.#wantedSides({ directory, later }, signal)
    this.#rechecks = { entries: sightings, removals: new Map() }
    return { source, directory: { ...directory, notices: [] } }
  }

  async #wantedSides(now: Pick<UndoFacts, 'directory' | 'later'>, signal: AbortSignal): Promise<UndoSides> {
    const { undo, rules, table, doneChanges } = this.#deps
    const draft = new UndoDraft({
      ...undo,
      ...now,
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
    return inTurns(draft.finish(), signal)
  }

  /** The earlier directory is the source here, so it has not shrunk, and nothing of it is refused or doubted. */
  seen(job: Job, { snapshots, history }: Before): ReturnType<Origin['seen']> {
    const { user, group } = snapshots.source.seen
    return {
      run: job.run,
      now: history.now,
      policy: 'mirror',
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
    return inTurns(noticesOfUndo(notices, advice, undo.run), signal)
  }

  whyDeleted(): () => 'undone' {
    return () => 'undone'
  }
}

/** Lists, policy and domains are about what a sync takes from its source: an undo ignores them. */
export function rulesOfUndo({ membership, emails }: DiffRules): DiffRules {
  const base = {
    policy: 'mirror',
    allowedDomains: [],
    membership: membership === 'write' ? 'write' : 'off',
  } as const
  return emails === undefined ? base : { ...base, emails }
}
