import type { Kysely } from 'kysely'
import type { DirectoryGroup, DirectoryUser, Kind } from '../../core/entries/entry.ts'
import { sentence } from '../../base/errors.ts'
import type { Grace, GuardLimits } from '../../core/checks/check.ts'
import type { DiffRules } from '../../core/diff/rules.ts'
import type { Options } from '../../core/plan/configuration.ts'
import type { Found, Source } from '../../source/source.ts'
import type { EntryKey } from './earlier-runs.ts'
import type { SyncTarget } from '../../store/run-types.ts'
import type { Tables } from '../../store/tables.ts'
import type { DirectorySide } from '../story.ts'

export interface Sides {
  readonly find: Source['find']
  /** Throws a `DirsyncdError` where the directory cannot be asked. */
  readonly lookUp: (key: EntryKey, signal: AbortSignal) => Promise<DirectoryUser | DirectoryGroup | undefined>
  readonly rules: DiffRules
  readonly limits: GuardLimits
  readonly grace: Grace
  /** When an approval ends that no run used. */
  readonly approvalsExpireAfterMs: number
  readonly options: Options
}

export interface ExplainDeps extends Sides {
  readonly db: Kysely<Tables>
  readonly target: SyncTarget
}

export type Asked =
  | { readonly found: Found; readonly error: null }
  | { readonly found: null; readonly error: string }

/** A command waits a minute for the daemon's answer, and the directory is asked after the source. */
const SOURCE_PATIENCE_MS = 40_000
const DIRECTORY_PATIENCE_MS = 10_000

export async function askSource(
  { find }: Pick<ExplainDeps, 'find'>,
  who: string,
  kinds: readonly Kind[],
): Promise<Asked> {
  try {
    return { found: await find({ who, kinds }, AbortSignal.timeout(SOURCE_PATIENCE_MS)), error: null }
  } catch (error) {
    return { found: null, error: sentence(error) }
  }
}

export async function askDirectory(
  { lookUp }: Pick<ExplainDeps, 'lookUp'>,
  key: EntryKey,
): Promise<DirectorySide> {
  try {
    return { error: null, entry: (await lookUp(key, AbortSignal.timeout(DIRECTORY_PATIENCE_MS))) ?? null }
  } catch (error) {
    return { error: sentence(error), entry: null }
  }
}
