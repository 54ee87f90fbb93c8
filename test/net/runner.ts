import type { Planned, RunDeps } from '../reference/sync/run.ts'
import type { UndoDeps } from '../reference/sync/undo.ts'
import { FencedRun } from '../reference/store/fenced-run.ts'
import type { Run } from '../reference/store/ram.ts'
import type { Around, Decider, RunEnd } from './decider.ts'
import type { Rules } from './story.ts'

/** The modules of a decider of the form of 3168b636. */
interface Modules {
  readonly Pass: new (...args: any[]) => Disposable & {
    parts(): RunDeps
    undoParts(undo: NonNullable<Run['undo']>): UndoDeps
    fail(error: string): Promise<void>
  }
  readonly runSync: (deps: RunDeps, signal: AbortSignal) => Promise<RunEnd>
  readonly runUndo: (deps: UndoDeps, signal: AbortSignal) => Promise<RunEnd>
}

/** The process of the run ends. */
export class Crash extends Error {}

export function runnerOf({ Pass, runSync, runUndo }: Modules): Decider['run'] {
  return async (ram, number, { rules }, around) => {
    const run = ram.run(number)
    using pass = new Pass({ db: ram, log: SILENT }, setupOf(rules, around), run, new FencedRun(ram, run))
    const { signal } = new AbortController()
    try {
      if (run.undo !== null) return await runUndo(within(pass.undoParts(run.undo), around), signal)
      return await runSync(within(pass.parts(), around), signal)
    } catch (error) {
      if (!(error instanceof Crash)) await pass.fail('failed')
      throw error
    }
  }
}

const SILENT = { child: () => SILENT, info: () => undefined }

function setupOf(rules: Rules, { source, readDirectory }: Around) {
  const { limits, grace, options, holdMs, ...plan } = rules
  return {
    name: 's',
    target: 't',
    source,
    readDirectory,
    rules: plan,
    limits,
    grace,
    options,
    holdMs,
    canary: {},
    verification: {},
  }
}

function within<T extends Pick<RunDeps, 'keep' | 'apply'>>(parts: T, around: Around): T {
  const keep = async (planned: Planned) => {
    around.beforeKeep()
    await parts.keep(planned)
    const { isHeld, breaches, plan } = planned
    around.afterKeep({ isHeld, breaches, notices: plan.notices })
  }
  return { ...parts, keep, apply: async () => around.apply() }
}
