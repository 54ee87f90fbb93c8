import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { chosenKeys, decided, type Decision, type Shown } from '../core/decide.ts'
import {
  type Approval,
  type Blocked,
  Decisions,
  EMPTY_LEDGER,
  type Ledger,
  NO_CODES,
  type Rejection,
} from '../core/decisions.ts'
import { isMember, type Key, keyText, parseKey } from '../core/keys.ts'
import { idsOf, type Scope } from '../core/within.ts'
import type { Op } from '../core/plan/change.ts'
import type { RecordedDecision, StoredBlock, SyncTarget } from './run-types.ts'
import { pack, unpack } from './packed.ts'
import { storableJson } from './storable.ts'
import type { Db, Tables } from './tables.ts'

/** A sync on a target, or an undo of one of its runs: each has questions and decisions of its own. */
interface OriginOf extends SyncTarget {
  readonly origin: string
}

/** Of a ledger and of decisions. */
const isOf = ({ sync, target, origin }: OriginOf) =>
  sql`sync = ${sync} AND target = ${target} AND origin = ${origin}`

/** A ledger as a run finds it, and the newest decision that is in it. */
interface Loaded {
  readonly ledger: Ledger
  readonly folded: number
  /** As it is stored: the digest of its keys, and up to which decision they have been folded in. */
  readonly stored: { readonly digest: string | undefined; readonly folded: number }
}

type PackedKey = readonly [
  text: string,
  blocked: readonly [since: number, ...asks: readonly string[]] | null,
  approval: readonly [codes: readonly string[], run: number, by: string, at: number, isUsed: boolean] | null,
  rejection: readonly [run: number, by: string, at: number, reason: string] | null,
]

/** The origin of a run: its sync, or an undo. */
export function originOf({ undo }: { readonly undo: { readonly run: number } | null }): string {
  return undo === null ? 'sync' : `undo ${undo.run}`
}

/** With each decision that was taken since the last run ended, also while it was under way. */
export async function loadLedger(db: Db, of: OriginOf): Promise<Loaded> {
  const { rows } = await sql<{ folded: string; digest: string | null; packed: Uint8Array | null }>`
    SELECT folded, digest, packed FROM dirsyncd.ledgers LEFT JOIN dirsyncd.key_sets ON digest = key_set
    WHERE ${isOf(of)}`.execute(db)
  const stored = rows[0]
  let ledger = stored?.packed ? await unpackLedger(Buffer.from(stored.packed)) : EMPTY_LEDGER
  const foldedBefore = Number(stored?.folded ?? 0)
  let folded = foldedBefore
  for (const { id, decision } of await decisionsSince(db, of, folded)) {
    const shown = await shownIn(db, decision.run, decision.at)
    const chosen = await inTurns(chosenKeys(ledger, decision, shown))
    ledger = await inTurns(decided(ledger, decision, chosen, shown))
    folded = id
  }
  return { ledger, folded, stored: { digest: stored?.digest ?? undefined, folded: foldedBefore } }
}

async function decisionsSince(
  db: Db,
  of: OriginOf,
  folded: number,
): Promise<readonly { readonly id: number; readonly decision: Decision }[]> {
  const { rows } = await sql<DecisionRow>`SELECT * FROM dirsyncd.decisions
    WHERE ${isOf(of)} AND decision > ${folded} ORDER BY decision`.execute(db)
  return rows.map(({ decision: id, run, does, selection, decided_by: by, reason, decided_at: at }) => ({
    id: Number(id),
    decision: { run, does, selection, by, reason, at },
  }))
}

/** Two decisions of one origin are recorded one after the other, and none while a run saves what it took in. */
export async function lockLedger(trx: Db, of: OriginOf): Promise<void> {
  await sql`INSERT INTO dirsyncd.ledgers (sync, target, origin) VALUES (${of.sync}, ${of.target}, ${of.origin})
    ON CONFLICT DO NOTHING`.execute(trx)
  await sql`SELECT FROM dirsyncd.ledgers WHERE ${isOf(of)} FOR UPDATE`.execute(trx)
}

/**
 * One row, however many keys it is about. Call it with the ledger locked.
 *
 * @param keys how many keys it is about
 * @param open how many questions are open then
 */
export async function addDecision(
  trx: Db,
  of: OriginOf,
  { run, does, selection, by, reason }: Omit<Decision, 'at'>,
  { keys, open }: { readonly keys: number; readonly open: number },
): Promise<number> {
  const { sync, target, origin } = of
  const what = { run, does, selection: storableJson(selection), keys, decided_by: by, reason }
  const row = await trx
    .insertInto('dirsyncd.decisions')
    .values({ sync, target, origin, ...what })
    .returning('decision')
    .executeTakeFirstOrThrow()
  await setOpen(trx, of, open)
  return Number(row.decision)
}

async function setOpen(trx: Db, of: OriginOf, open: number): Promise<void> {
  await sql`UPDATE dirsyncd.ledgers SET open = ${open} WHERE ${isOf(of)}`.execute(trx)
}

/** What operators decided about these runs, by run, the earliest first. */
export async function decisionsAbout(
  db: Db,
  runs: readonly number[],
): Promise<ReadonlyMap<number, readonly RecordedDecision[]>> {
  if (runs.length === 0) return new Map()
  const { rows } = await sql<DecisionRow>`SELECT * FROM dirsyncd.decisions
    WHERE run = ANY(${runs}::integer[]) ORDER BY decision`.execute(db)
  const byRun = Map.groupBy(rows, ({ run }) => run)
  return new Map([...byRun].map(([run, all]) => [run, all.map(recordedDecision)]))
}

type DecisionRow = Selectable<Tables['dirsyncd.decisions']>

export function recordedDecision(row: DecisionRow): RecordedDecision {
  const { does, decided_by: by, reason, selection, keys, started } = row
  const at = row.decided_at.toISOString()
  return { decision: Number(row.decision), does, by, at, reason, selection, keys, started }
}

/** A key set that is stored already under this digest is not sent again. */
interface KeySetToStore {
  readonly digest: string
  readonly keys: number
  readonly packed: Buffer
}

export async function packLedger({ blocked, approvals, rejections }: Ledger): Promise<KeySetToStore> {
  const texts = new Set<string>()
  for (const some of [blocked, approvals, rejections])
    await inTurns(forEachInSteps(some.keys(), (text) => texts.add(text)))
  function* items(): Generator<PackedKey, void> {
    for (const text of texts) {
      const [block, approval, rejection] = [blocked.get(text), approvals.get(text), rejections.get(text)]
      yield [
        text,
        block ? [block.since, ...block.asks] : null,
        approval ? packedApproval(approval) : null,
        rejection ? [rejection.run, rejection.by, rejection.at.getTime(), rejection.reason] : null,
      ]
    }
  }
  return keySetOf(await pack(items()), texts.size)
}

async function unpackLedger(packed: Buffer): Promise<Ledger> {
  const blocked = new Map<string, Blocked>()
  const approvals = new Map<string, Approval>()
  const rejections = new Map<string, Rejection>()
  for await (const part of unpack<PackedKey>(packed))
    for (const [text, block, approval, rejection] of part) {
      if (block !== null) {
        const [since, ...asks] = block
        blocked.set(text, { since, asks: codesIn(asks) })
      }
      if (approval !== null) {
        const [codes, run, by, at, isUsed] = approval
        approvals.set(text, { codes: codesIn(codes), run, by, at: new Date(at), isUsed })
      }
      if (rejection === null) continue
      const [run, by, at, reason] = rejection
      rejections.set(text, { run, by, at: new Date(at), reason })
    }
  return { blocked, approvals, rejections }
}

/** Many keys have the same codes. */
const knownCodes = new Map([['', NO_CODES]])

function codesIn(codes: readonly string[]): ReadonlySet<string> {
  const text = codes.join(' ')
  const known = knownCodes.get(text) ?? new Set(codes)
  knownCodes.set(text, known)
  return known
}

function packedApproval({ codes, run, by, at, isUsed }: Approval): NonNullable<PackedKey[2]> {
  return [[...codes], run, by, at.getTime(), isUsed]
}

/** Call it with the ledger locked. */
export async function saveLedger(
  trx: Db,
  of: OriginOf,
  { set, folded, open, asker }: LedgerToSave,
): Promise<void> {
  if (set !== undefined) await storeKeySet(trx, set)
  await sql`UPDATE dirsyncd.ledgers SET folded = ${folded}, key_set = COALESCE(${set?.digest ?? null}, key_set),
      open = ${open}, asked_in = COALESCE(${asker ?? null}, asked_in)
    WHERE ${isOf(of)}`.execute(trx)
  if ((await decisionsSince(trx, of, folded)).length > 0)
    await setOpen(trx, of, await countOpen((await loadLedger(trx, of)).ledger))
}

interface LedgerToSave extends Pick<Loaded, 'folded'> {
  /** `undefined` where nothing of it changed. */
  readonly set: KeySetToStore | undefined
  readonly open: number
  /** The run, where it asked something. */
  readonly asker?: number | undefined
}

/** Counts keys as a run lists them: in changes, of which a key may be a part, and in facts. */
export class AskedChanges {
  readonly #all = new Map<string, Op | undefined>()
  readonly #isAsked: (key: string) => boolean

  /** @param isAsked whether this key is counted, too */
  constructor(isAsked: (key: string) => boolean) {
    this.#isAsked = isAsked
  }

  get size(): number {
    return this.#all.size
  }

  add(text: string): void {
    const key = parseKey(text)
    if (key === undefined) this.#all.set(text, undefined)
    else if (!this.#endsWithEntry(key)) this.#all.set(`${opOf(key)} ${key[1]}`, opOf(key))
  }

  /** Without facts. */
  counts(): Partial<Record<Op, number>> {
    const counts: Partial<Record<Op, number>> = {}
    for (const op of this.#all.values()) if (op !== undefined) counts[op] = (counts[op] ?? 0) + 1
    return counts
  }

  /** Such a membership is no change of its own. */
  #endsWithEntry([, group, field, member]: Key): boolean {
    const entries: readonly Key[] = [
      ['user', member!, 'leave'],
      ['group', group, 'delete'],
    ]
    return field === '-member' && entries.some((key) => this.#isAsked(keyText(key)))
  }
}

function opOf([kind, , field]: Key): Op {
  if (isMember(field)) return 'set-members'
  if (field === 'create') return `create-${kind}`
  return field === 'leave' || field === 'delete' ? `delete-${kind}` : `update-${kind}`
}

/** How many questions no operator has decided: changes and facts. */
export async function countOpen(ledger: Ledger): Promise<number> {
  const decisions = new Decisions(ledger)
  const open = new AskedChanges((text) => decisions.isOpen(text))
  await inTurns(forEachInSteps(decisions.open(), (text) => text !== undefined && open.add(text)))
  return open.size
}

/** Codes of a key; `null` for a key that only the stop of the plan keeps. */
type PackedShown = readonly [text: string, codes: readonly string[] | null]

/** Packed before the transaction that saves it. */
export async function packShown({ codes, waiting }: Shown): Promise<(trx: Db, run: number) => Promise<void>> {
  function* items(): Generator<PackedShown | undefined, void> {
    for (const [text, some] of codes) yield [text, [...some]]
    for (const key of waiting) {
      const text = key && keyText(key)
      yield text === undefined || codes.has(text) ? undefined : [text, null]
    }
  }
  const set = keySetOf(await pack(items()), codes.size)
  return async (trx, run) => {
    await storeKeySet(trx, set)
    await sql`INSERT INTO dirsyncd.shown_keys (run, key_set) VALUES (${run}, ${set.digest})`.execute(trx)
  }
}

/**
 * The changes that a run showed; none once retention has removed the run.
 *
 * @param at the time of a decision. Default: now
 */
export async function shownIn(db: Db, run: number, at?: Date): Promise<Shown> {
  const { rows } = await sql<{ packed: Uint8Array }>`SELECT packed
    FROM dirsyncd.shown_keys JOIN dirsyncd.key_sets AS k ON k.digest = key_set WHERE run = ${run}`.execute(db)
  const codes = new Map<string, ReadonlySet<string>>()
  const waiting: Key[] = []
  for (const { packed } of rows)
    for await (const part of unpack<PackedShown>(Buffer.from(packed)))
      for (const [text, some] of part)
        if (some === null) waiting.push(JSON.parse(text) as Key)
        else codes.set(text, codesIn(some))
  return { run, codes, waiting, dry: codes.size === 0 ? undefined : await dryRunOf(db, run, at) }
}

/** `undefined` for a run that was not dry. */
export async function dryRunOf(db: Db, run: number, at?: Date): Promise<Shown['dry']> {
  const { rows } = await sql<{
    blocks: readonly StoredBlock[] | null
    followedBy: number | null
    parts: Scope[] | null
  }>`WITH later AS (SELECT later.run, later.scope FROM dirsyncd.runs AS r JOIN dirsyncd.runs AS later
        ON later.sync = r.sync AND later.target = r.target AND later.run > r.run AND later.mode = 'sync'
          AND later.undo ->> 'run' IS NOT DISTINCT FROM r.undo ->> 'run'
          AND later.digest IS NOT NULL AND later.finished_at <= ${at ?? sql`now()`}
        WHERE r.run = ${run}),
      whole AS (SELECT min(run) AS run FROM later WHERE scope IS NULL)
    SELECT blocks, whole.run AS "followedBy", (SELECT json_agg(scope) FROM later
      WHERE scope IS NOT NULL AND (whole.run IS NULL OR later.run < whole.run)) AS parts
    FROM dirsyncd.runs AS r, whole WHERE r.run = ${run} AND mode = 'plan'`.execute(db)
  const [dry] = rows
  if (dry === undefined) return undefined
  const asks = (dry.blocks ?? []).filter(({ until }) => until === 'decision')
  const parts = dry.parts ?? []
  const [users, groups] = [parts.flatMap((part) => part.users), parts.flatMap((part) => part.groups)]
  return {
    asks: new Set(asks.map(({ code }) => code)),
    followedBy: dry.followedBy ?? undefined,
    later: idsOf({ users, groups }),
  }
}

function keySetOf(packed: Buffer, keys: number): KeySetToStore {
  return { digest: createHash('sha256').update(packed).digest('base64url'), keys, packed }
}

async function storeKeySet(db: Db, { digest, packed }: KeySetToStore): Promise<void> {
  await sql`INSERT INTO dirsyncd.key_sets (digest, packed) SELECT ${digest}, ${packed}
    WHERE NOT EXISTS (SELECT FROM dirsyncd.key_sets WHERE digest = ${digest})
    ON CONFLICT DO NOTHING`.execute(db)
}
