import { sql } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { openReasons } from '../core/decide.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../core/decisions.ts'
import { AskedChanges, loadLedger, shownIn } from '../store/ledgers.ts'
import type { SyncTarget } from '../store/run-types.ts'
import type { Db } from '../store/tables.ts'

type OriginOf = SyncTarget & { readonly origin: string }

/** By store. Lists ask for a ledger part by part, and one of 300,000 keys takes a second to load. */
const lastRead = new WeakMap<
  Db,
  { readonly version: string; readonly ledger: Ledger; readonly forgetting: NodeJS.Timeout }
>()
const FORGET_MS = 10_000

/** The ledger for pages and lists, which is kept for some seconds. */
export async function readLedger(db: Db, of: OriginOf): Promise<Ledger> {
  const { rows } = await sql<{
    version: string
  }>`SELECT concat_ws(' ', sync, target, origin, ${VERSION}) AS version
    FROM dirsyncd.ledgers AS l WHERE sync = ${of.sync} AND target = ${of.target} AND origin = ${of.origin}`.execute(
    db,
  )
  const version = rows[0]?.version
  if (version === undefined) return EMPTY_LEDGER
  const last = lastRead.get(db)
  const ledger = last?.version === version ? last.ledger : (await loadLedger(db, of)).ledger
  clearTimeout(last?.forgetting)
  lastRead.set(db, { version, ledger, forgetting: setTimeout(() => lastRead.delete(db), FORGET_MS).unref() })
  return ledger
}

/** The version of a ledger `l`. It differs after each change of the keys and each decision. */
const VERSION = sql`concat_ws(' ', l.key_set, l.folded, (SELECT max(decision) FROM dirsyncd.decisions AS d
  WHERE d.sync = l.sync AND d.target = l.target AND d.origin = l.origin))`

interface OpenShown {
  readonly count: number
  /** The first run of which it is true, if it showed the same. */
  readonly since: number
}

/** By what was shown and decided: pages ask every few seconds, and of 300,000 keys it takes half a second. */
const known = new Map<string, OpenShown>()
const MOST_KNOWN = 100

/** How many of the questions that a run showed are open now, for each of these runs that has any. */
export async function openQuestionsOf(db: Db, runs: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (runs.length === 0) return new Map()
  const { rows } = await sql<OriginOf & { run: number; shown: string; ledger: string }>`
    SELECT r.run, r.sync, r.target, l.origin, s.key_set AS shown, ${VERSION} AS ledger
      FROM dirsyncd.runs AS r
      JOIN dirsyncd.shown_keys AS s ON s.run = r.run
      JOIN dirsyncd.ledgers AS l ON l.sync = r.sync AND l.target = r.target AND l.open > 0
        AND l.origin = CASE WHEN r.undo IS NULL THEN 'sync' ELSE 'undo ' || (r.undo ->> 'run') END
    WHERE r.run = ANY(${runs}::integer[])`.execute(db)
  const open = new Map<number, number>()
  for (const row of rows) {
    const key = `${row.shown} ${row.ledger}`
    const ofRun = `${key} ${row.run}`
    const before = [key, ofRun].map((each) => known.get(each))
    const found = before.find((each) => each && each.since <= row.run) ?? (await countOpenOf(db, row))
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(found.since < row.run ? key : ofRun, found)
    if (found.count > 0) open.set(row.run, found.count)
  }
  return open
}

async function countOpenOf(db: Db, row: OriginOf & { readonly run: number }): Promise<OpenShown> {
  const { ledger } = await loadLedger(db, row)
  const decisions = new Decisions(ledger)
  const shown = await shownIn(db, row.run)
  const { codes } = shown
  // A question with another reason, or that was asked anew, belongs to the later run that asked it.
  // What only a plan showed is a question as soon as a run asks it.
  const isOpen = (text: string): boolean =>
    decisions.isOpen(text) && openReasons(decisions, shown, text).length > 0
  const open = new AskedChanges(isOpen)
  let since = 0
  await inTurns(
    forEachInSteps(codes.keys(), (text) => {
      if (isOpen(text)) open.add(text)
      since = Math.max(since, ledger.blocked.get(text)?.since ?? 0)
    }),
  )
  return { count: open.size, since: shown.dry === undefined ? Math.min(since, row.run) : row.run }
}
