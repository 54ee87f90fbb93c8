import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { inTurns } from '../../../src/base/turns.ts'
import { chosenKeys, decided, type Decision, type Selection, type Shown } from '../core/decide.ts'
import { type Approval, EMPTY_LEDGER, type Ledger, type Rejection } from '../core/decisions.ts'
import { type Key, keyText } from '../core/keys.ts'
import type { SyncTarget } from '../../../src/store/run-types.ts'
import { pack, unpack } from './packed.ts'

type Db = Kysely<never>

/** A sync on a target, or an undo of one of its runs: each has questions and decisions of its own. */
export interface OriginOf extends SyncTarget {
  readonly origin: string
}

/** A ledger as a run finds it, and the newest decision that is in it. */
export interface Loaded {
  readonly ledger: Ledger
  readonly folded: number
}

type PackedKey = readonly [
  text: string,
  asked: readonly string[] | null,
  approval: readonly [codes: readonly string[], at: number, isUsed: boolean] | null,
  rejection: readonly [run: number, by: string, at: number, reason: string] | null,
]

/** With each decision that was taken since the last run ended, also while it was under way. */
export async function loadLedger(db: Db, of: OriginOf): Promise<Loaded> {
  const { sync, target, origin } = of
  const {
    rows: [stored],
  } = await sql<{ folded: string; packed: Uint8Array }>`SELECT folded, packed FROM dirsyncd.ledgers
    JOIN dirsyncd.key_sets ON digest = key_set
    WHERE sync = ${sync} AND target = ${target} AND origin = ${origin}`.execute(db)
  let ledger = stored === undefined ? EMPTY_LEDGER : await unpackLedger(Buffer.from(stored.packed))
  let folded = Number(stored?.folded ?? 0)
  for (const { id, decision } of await decisionsSince(db, of, folded)) {
    const shown = await shownIn(db, decision.run)
    const chosen = await inTurns(chosenKeys(ledger, decision, shown))
    ledger = await inTurns(decided(ledger, decision, chosen))
    folded = id
  }
  return { ledger, folded }
}

interface DecisionRow {
  readonly decision: string
  readonly run: number
  readonly does: Decision['does']
  readonly selection: Selection
  readonly decided_by: string
  readonly reason: string
  readonly decided_at: Date
}

async function decisionsSince(
  db: Db,
  { sync, target, origin }: OriginOf,
  folded: number,
): Promise<readonly { readonly id: number; readonly decision: Decision }[]> {
  const { rows } =
    await sql<DecisionRow>`SELECT decision, run, does, selection, decided_by, reason, decided_at
    FROM dirsyncd.key_decisions WHERE sync = ${sync} AND target = ${target} AND origin = ${origin} AND decision > ${folded}
    ORDER BY decision`.execute(db)
  return rows.map(({ decision: id, run, does, selection, decided_by: by, reason, decided_at: at }) => ({
    id: Number(id),
    decision: { run, does, selection, by, reason, at },
  }))
}

/** One row, however many keys it is about. `keys`: how many, for the history. */
export async function addDecision(
  db: Db,
  { sync, target, origin }: OriginOf,
  { run, does, selection, by, reason }: Omit<Decision, 'at'>,
  keys: number,
): Promise<void> {
  await sql`INSERT INTO dirsyncd.key_decisions (sync, target, origin, run, does, selection, keys, decided_by, reason)
    VALUES (${sync}, ${target}, ${origin}, ${run}, ${does}, ${JSON.stringify(selection)}::jsonb, ${keys}, ${by}, ${reason})`.execute(
    db,
  )
}

/** A key set that is stored already under this digest is not sent again. */
export interface KeySetToStore {
  readonly digest: string
  readonly packed: Buffer
}

export async function packLedger({ questions, approvals, rejections }: Ledger): Promise<KeySetToStore> {
  function* items(): Generator<PackedKey, void> {
    const texts = new Set([...questions.keys(), ...approvals.keys(), ...rejections.keys()])
    for (const text of texts) {
      const [asked, approval, rejection] = [questions.get(text), approvals.get(text), rejections.get(text)]
      yield [
        text,
        asked === undefined ? null : [...asked],
        approval === undefined ? null : [[...approval.codes], approval.at.getTime(), approval.isUsed],
        rejection === undefined
          ? null
          : [rejection.run, rejection.by, rejection.at.getTime(), rejection.reason],
      ]
    }
  }
  return keySetOf(await pack(items()))
}

async function unpackLedger(packed: Buffer): Promise<Ledger> {
  const questions = new Map<string, ReadonlySet<string>>()
  const approvals = new Map<string, Approval>()
  const rejections = new Map<string, Rejection>()
  for await (const [text, asked, approval, rejection] of unpack<PackedKey>(packed)) {
    if (asked !== null) questions.set(text, new Set(asked))
    if (approval !== null) {
      const [codes, at, isUsed] = approval
      approvals.set(text, { codes: new Set(codes), at: new Date(at), isUsed })
    }
    if (rejection === null) continue
    const [run, by, at, reason] = rejection
    rejections.set(text, { run, by, at: new Date(at), reason })
  }
  return { questions, approvals, rejections }
}

export async function saveLedger(
  db: Db,
  { sync, target, origin }: OriginOf,
  set: KeySetToStore,
  folded: number,
): Promise<void> {
  await storeKeySet(db, set)
  await sql`INSERT INTO dirsyncd.ledgers (sync, target, origin, folded, key_set)
    VALUES (${sync}, ${target}, ${origin}, ${folded}, ${set.digest})
    ON CONFLICT (sync, target, origin) DO UPDATE SET folded = excluded.folded, key_set = excluded.key_set`.execute(
    db,
  )
}

/** Codes of a key; `null` for a key that only the stop of the plan keeps. */
type PackedShown = readonly [text: string, codes: readonly string[] | null]

export async function packShown({ codes, waiting }: Shown): Promise<KeySetToStore> {
  function* items(): Generator<PackedShown, void> {
    for (const [text, some] of codes) yield [text, [...some]]
    for (const key of waiting) {
      const text = keyText(key)
      if (!codes.has(text)) yield [text, null]
    }
  }
  return keySetOf(await pack(items()))
}

export async function saveShown(db: Db, run: number, set: KeySetToStore): Promise<void> {
  await storeKeySet(db, set)
  await sql`INSERT INTO dirsyncd.shown_keys (run, key_set) VALUES (${run}, ${set.digest})`.execute(db)
}

/** What a run showed; nothing of it where it is not kept any more. */
export async function shownIn(db: Db, run: number): Promise<Shown> {
  const {
    rows: [stored],
  } = await sql<{ packed: Uint8Array }>`SELECT packed FROM dirsyncd.shown_keys
    JOIN dirsyncd.key_sets ON digest = key_set WHERE run = ${run}`.execute(db)
  const codes = new Map<string, ReadonlySet<string>>()
  const waiting: Key[] = []
  if (stored !== undefined)
    for await (const [text, some] of unpack<PackedShown>(Buffer.from(stored.packed))) {
      if (some === null) waiting.push(JSON.parse(text) as Key)
      else codes.set(text, new Set(some))
    }
  return { codes, waiting }
}

function keySetOf(packed: Buffer): KeySetToStore {
  return { digest: createHash('sha256').update(packed).digest('base64url'), packed }
}

async function storeKeySet(db: Db, { digest, packed }: KeySetToStore): Promise<void> {
  await sql`INSERT INTO dirsyncd.key_sets (digest, packed) SELECT ${digest}, ${packed}
    WHERE NOT EXISTS (SELECT FROM dirsyncd.key_sets WHERE digest = ${digest})
    ON CONFLICT DO NOTHING`.execute(db)
}
