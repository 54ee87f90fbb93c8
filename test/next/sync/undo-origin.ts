import { inTurns } from '../../../src/base/turns.ts'
import { guardsOfUndo } from '../core/checks/checks.ts'
import type { Check } from '../core/checks/check.ts'
import { NO_RECHECKS, type Rechecks, type RunFacts } from '../core/checks/run-facts.ts'
import type { DiffRules, Snapshots } from '../core/diff/differences.ts'
import { SourceUsers } from '../../../src/core/entries/users.ts'
import type { DirectorySnapshot } from '../../../src/core/entries/snapshot.ts'
import type { UserTable } from '../../../src/core/entries/user-table.ts'
import type { Change } from '../../../src/core/plan/change.ts'
import { compileSelections } from '../../../src/core/plan/selection.ts'
import { type LaterAttempt, LaterAttempts } from '../../../src/core/plan/undo/later-attempts.ts'
import { UndoDraft, type UndoFacts, type UndoSides } from '../../../src/core/plan/undo/undo-draft.ts'
import type { Before, Origin } from './origin.ts'
import type { Job } from './run.ts'

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
  readonly rules: readonly Check<RunFacts>[] = []
  readonly anomalies: readonly Check<RunFacts>[] = []
  readonly guards: readonly Check<RunFacts>[]
  readonly #deps: Deps
  #rechecks: Rechecks = NO_RECHECKS

  constructor(deps: Deps) {
    this.#deps = deps
    this.name = `undo ${deps.undo.run}`
    this.guards = guardsOfUndo(deps.undo.run)
  }

  async read(_states: unknown, signal: AbortSignal): Promise<Snapshots> {
    const { readDirectory, table, laterAttempts, undo } = this.#deps
    const directory = await readDirectory(signal, table)
    const later = new LaterAttempts(undo.run, await laterAttempts())
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
