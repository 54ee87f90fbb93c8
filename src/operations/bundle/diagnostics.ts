import { textsIn } from './clean.ts'
import type { Kysely } from 'kysely'
import { sentence } from '../../base/errors.ts'
import {
  absenceCounts,
  canaryFacts,
  decisionCounts,
  knownSyncs,
  lastGoodFacts,
  leaseFacts,
  newestRuns,
  noticeCounts,
  pauseFacts,
  quarantineFacts,
  refusedLoginFacts,
  storeVersion,
  tableSizes,
  tokenFacts,
  troublesOf,
} from '../../store/diagnostics.ts'
import { isAway } from '../../base/database/outage.ts'
import { describeProcess } from '../../base/database/process-name.ts'
import { pausedSyncs } from '../../store/paused-syncs.ts'
import type { SyncTarget } from '../../store/run-types.ts'
import type { Tables } from '../../store/tables.ts'
import { Cleaner } from './clean.ts'
import { findKnown } from './known.ts'
import { describeRun } from './run-facts.ts'
import { programWords, WORDS_UNREAD } from './words.ts'

type Db = Kysely<Tables>

export interface DiagnosticsRequest {
  readonly salt: string
  readonly shown: readonly string[]
}

/** Plain data without names. */
export interface Diagnostics {
  readonly facts: Readonly<Record<string, unknown>>
  /** Why parts could not be read; one sentence each. */
  readonly errors: readonly string[]
}

const RUNS = 20

/** At most; all are counted. */
const QUARANTINED = 20

type OrElse = <T>(other: T, read: () => Promise<T>) => Promise<T>

/**
 * Reads the state of runs and syncs. A part that cannot be read is left out, with the reason in `errors`. Throws where
 * the store is unavailable, because each further read would wait for it too.
 */
export async function diagnose(db: Db, { salt, shown }: DiagnosticsRequest): Promise<Diagnostics> {
  const errors: string[] = []
  const orElse: OrElse = async (other, read) => {
    try {
      return await read()
    } catch (error) {
      if (isAway(error)) throw error
      errors.push(sentence(error))
      return other
    }
  }
  const facts = await readFacts(db, orElse)
  const runs = facts.syncs.flatMap((sync) => sync.runs.map(({ run }) => run))
  const texts = textsOf(facts)
  const known = await orElse(undefined, () => findKnown(db, runs, texts))
  const words = await orElse(undefined, programWords)
  const cleanerWith = (some: ReadonlySet<string> = new Set()) =>
    new Cleaner({ salt, shown, words: some, known: known ?? new Map() })
  // Without the known names, a sentence might keep one. The reason of a failed read has names at most in quotes.
  const cleaner = cleanerWith(known && words)
  const ofErrors = cleanerWith(words)
  const cleaned = [...new Set(errors)].map((error) => ofErrors.sentence(error))
  return {
    facts: describe(facts, cleaner),
    errors: words === undefined ? [WORDS_UNREAD, ...cleaned] : cleaned,
  }
}

type Facts = Awaited<ReturnType<typeof readFacts>>

async function readFacts(db: Db, orElse: OrElse) {
  return {
    version: await orElse(undefined, () => storeVersion(db)),
    tables: await orElse([], () => tableSizes(db)),
    leases: await orElse([], () => leaseFacts(db)),
    pauses: await orElse([], () => pauseFacts(db)),
    paused: await orElse([], async () => [...(await pausedSyncs(db)).values()]),
    tokens: await orElse([], () => tokenFacts(db)),
    logins: await orElse([], () => refusedLoginFacts(db)),
    syncs: await readSyncs(db, orElse),
  }
}

async function readSyncs(db: Db, orElse: OrElse): Promise<readonly SyncFacts[]> {
  const read: SyncFacts[] = []
  for (const target of await orElse([], () => knownSyncs(db))) {
    const sync = await orElse(undefined, () => readSync(db, target))
    if (sync !== undefined) read.push(sync)
  }
  return read
}

function describe(facts: Facts, cleaner: Cleaner): Readonly<Record<string, unknown>> {
  return {
    store: facts.version,
    tables: facts.tables,
    leases: facts.leases.map(({ owner, ...lease }) => ({
      ...lease,
      owner: owner === null ? null : describeProcess(owner),
    })),
    pauses: facts.pauses,
    paused: facts.paused.map(({ sync, since }) => ({ sync, since })),
    tokens: facts.tokens,
    refusedLogins: facts.logins.map((login) => ({ ...login, message: cleaner.sentence(login.message) })),
    syncs: facts.syncs.map((sync) => describeSync(sync, cleaner)),
  }
}

type SyncFacts = Awaited<ReturnType<typeof readSync>>

async function readSync(db: Db, target: SyncTarget) {
  const runs = await newestRuns(db, target, RUNS)
  const numbers = runs.map(({ run }) => run)
  return {
    ...target,
    runs,
    lastGood: await lastGoodFacts(db, target),
    canaries: await canaryFacts(db, target),
    absences: await absenceCounts(db, target),
    quarantine: await quarantineFacts(db, target),
    decisions: await decisionCounts(db, target),
    troubles: await troublesOf(db, numbers),
    notices: await noticeCounts(db, numbers),
  }
}

function textsOf({ logins, syncs }: Facts): readonly string[] {
  const ofSyncs = syncs.flatMap(({ runs, quarantine, troubles, notices }) => [
    ...runs.flatMap(({ error, stop_reason: reason, breaches }) => [
      error,
      reason,
      ...(breaches ?? []).flatMap(({ params }) => textsIn(params)),
    ]),
    ...troubles.map(({ detail }) => detail),
    ...[...quarantine.slice(0, QUARANTINED), ...notices].flatMap(({ params }) => textsIn(params)),
  ])
  return [...logins.map(({ message }) => message), ...ofSyncs].filter((text) => text !== null)
}

function describeSync(sync: SyncFacts, cleaner: Cleaner): Readonly<Record<string, unknown>> {
  return {
    sync: sync.sync,
    target: sync.target,
    lastGood: sync.lastGood ?? null,
    canaries: sync.canaries,
    absences: sync.absences,
    decisions: sync.decisions,
    quarantine: describeQuarantine(sync.quarantine, cleaner),
    runs: sync.runs.map((run) => describeRun(run, sync, cleaner)),
  }
}

function describeQuarantine(quarantine: SyncFacts['quarantine'], cleaner: Cleaner): object {
  const counts = Map.groupBy(quarantine, ({ op, code, status }) => JSON.stringify({ op, code, status }))
  return {
    counts: [...counts].map(([what, some]) => ({ ...JSON.parse(what), count: some.length })),
    newest: quarantine.slice(0, QUARANTINED).map(({ id, op, params, ...facts }) => ({
      ...facts,
      op,
      entry: cleaner.id({ kind: op.endsWith('-group') ? 'group' : 'user', id }),
      params: cleaner.params(params),
    })),
  }
}
