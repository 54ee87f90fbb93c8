import { type Kysely, sql } from 'kysely'
import { cut, digits, examples } from '../base/wording.ts'
import { DirsyncdError } from '../base/errors.ts'
import { listAt } from '../base/lists.ts'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { BlockCode, Until } from '../core/block.ts'
import { chosenKeys, decided, type Decision, isOver, type Selection, type Shown } from '../core/decide.ts'
import { Decisions, type Ledger } from '../core/decisions.ts'
import { isMember, type Key, keyText, parseKey } from '../core/keys.ts'
import {
  addDecision,
  AskedChanges,
  countOpen,
  decisionsAbout,
  loadLedger,
  lockLedger,
  originOf,
  shownIn,
} from '../store/ledgers.ts'
import { pauseOfSync, pauseSync } from '../store/paused-syncs.ts'
import { findRun, type NewRun, type RunRecord } from '../store/runs.ts'
import type { Scope } from '../core/within.ts'
import type { Tables } from '../store/tables.ts'
import type { Decided, DecisionRequest } from './control.ts'
import { decisionText } from './decision-text.ts'
import { requireSameTarget } from './same-target.ts'
import { stopRejected } from './stop-rejected.ts'

type Db = Kysely<Tables>

export interface DecideDeps {
  readonly db: Db
  readonly targets: ReadonlyMap<string, string>
  readonly request: (sync: string, run: Omit<NewRun, 'sync' | 'target'>) => Promise<number>
}

/** Records a decision about what a run showed. An approval starts a run at once, unless the sync is paused. */
export async function decide(
  { db, targets, request }: DecideDeps,
  does: 'approve' | 'reject',
  { run: number, by, reason = '', ids, only, code, isAll }: DecisionRequest,
): Promise<Pick<Decided, 'decision' | 'sent'> & { readonly run: RunRecord }> {
  const run = await findRun(db, number)
  if (run === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${number}; see \`dirsyncd runs\`.`)
  requireSameTarget(run, targets, 'be decided about')
  const selection: Selection = { ids, only, code, isAll }
  const { decision, chosen, shown } = await record(db, run, {
    does,
    run: number,
    by,
    reason,
    selection,
  })
  const scope =
    ids !== undefined ? scopeOf(ids, chosen) : run.undo === null ? undefined : await scopeShown(shown)
  if (does === 'approve') await applyApproval({ db, request }, run, { decision, by, scope })
  const sent = does === 'approve' ? null : await stopRejected(db, run, { by, ...entriesOf(chosen) })
  const recorded = (await decisionsAbout(db, [number])).get(number) ?? []
  return { run, decision: recorded.find((each) => each.decision === decision)!, sent }
}

/** An undo runs although the sync is paused, and pauses it even if it was resumed since. */
async function applyApproval(
  { db, request }: Pick<DecideDeps, 'db' | 'request'>,
  { sync, undo }: RunRecord,
  {
    decision,
    by,
    scope,
  }: { readonly decision: number; readonly by: string; readonly scope: Scope | undefined },
): Promise<void> {
  if (undo !== null) await pauseSync(db, { sync, by, reason: `undo of run ${undo.run}` })
  else if ((await pauseOfSync(db, sync)) !== undefined) return
  const started = await request(sync, {
    mode: 'sync',
    trigger: 'approval',
    ...(undo !== null && { undo }),
    ...(scope !== undefined && { scope }),
  })
  await sql`UPDATE dirsyncd.decisions SET started = ${started} WHERE decision = ${decision}`.execute(db)
}

/** The ids by kind. An id that is of neither kind is unknown, and its run reports that. */
function scopeOf(ids: readonly string[], chosen: Chosen): Scope {
  const known = { user: new Set<string>(), group: new Set<string>() }
  for (const text of chosen.keys()) {
    const [kind, id, , member] = parseKey(text) ?? []
    if (kind !== undefined && id !== undefined) known[kind].add(id)
    if (member !== undefined) known.user.add(member)
  }
  return { users: ids.filter((id) => known.user.has(id)), groups: ids.filter((id) => known.group.has(id)) }
}

/** An undo makes nothing that the run did not show: what changed since may differ again. */
async function scopeShown({ codes, waiting }: Shown): Promise<Scope> {
  const known = { user: new Set<string>(), group: new Set<string>() }
  const add = (key: Key | undefined): void => {
    if (key === undefined) return
    const [kind, id, , member] = key
    if (isMember(key[2])) known.user.add(member!)
    else known[kind].add(id)
  }
  await inTurns(forEachInSteps(codes.keys(), (text) => add(parseKey(text))))
  await inTurns(forEachInSteps(waiting, add))
  return { users: [...known.user], groups: [...known.group] }
}

function record(db: Db, run: RunRecord, decision: Omit<Decision, 'at'>) {
  const of = { sync: run.sync, target: run.target, origin: originOf(run) }
  return db.transaction().execute(async (trx) => {
    await lockLedger(trx, of)
    const { ledger } = await loadLedger(trx, of)
    const shown = await shownIn(trx, run.run)
    const at = new Date()
    const chosen = await inTurns(chosenKeys(ledger, decision, shown))
    requireIds(run, decision.selection, shown, chosen)
    if (chosen.size === 0) throw await nothingToDecide(trx, run, ledger, shown, decision)
    requireOneReason(run, decision, chosen)
    const after = await inTurns(decided(ledger, { ...decision, at }, chosen, shown))
    const id = await addDecision(trx, of, decision, { keys: chosen.size, open: await countOpen(after) })
    return { decision: id, chosen, shown }
  })
}

/** The entries of changes that would make these keys. */
function entriesOf(chosen: Chosen): Readonly<Record<'ids' | 'leavers', readonly string[]>> {
  const [ids, leavers] = [new Set<string>(), new Set<string>()]
  for (const text of chosen.keys()) {
    const [kind, id = '', field, member] = parseKey(text) ?? []
    if (kind !== undefined) ids.add(id)
    if (field === '-member') ids.add(member!)
    if (field === 'leave' || (kind === 'user' && field === 'delete')) leavers.add(id)
  }
  return { ids: [...ids], leavers: [...leavers] }
}

type Chosen = ReadonlyMap<string, readonly string[]>

const IDS_NAMED = 20

/**
 * Nothing is decided where the run showed nothing of some ids: one may be mistyped. One whose change was made or decided
 * meanwhile is not.
 */
function requireIds(
  run: RunRecord,
  { ids = [], code }: Selection,
  { codes, waiting }: Shown,
  chosen: Chosen,
): void {
  const left = unknownIn(chosen.keys(), ids)
  const isMeant = (reasons: ReadonlySet<string>) =>
    code === undefined || code === 'rejected' || reasons.has(code)
  if (left.length === 0) return
  const shown = [...codes].flatMap(([text, reasons]) => (isMeant(reasons) ? [text] : []))
  if (code === undefined) for (const key of waiting) if (key !== undefined) shown.push(keyText(key))
  const unknown = unknownIn(shown, left)
  if (unknown.length === 0) return
  const whose = examples(unknown.map(cut), unknown.length, IDS_NAMED)
  const such = code === undefined ? 'such change' : `change with the reason ${cut(code)}`
  const what = codes.size === 0 ? 'asks nothing' : `shows no ${such} of ${whose}`
  throw new DirsyncdError(
    'usage',
    `Run ${run.run} ${what}, so nothing was decided; dirsyncd runs ${run.run} --all shows its changes.${undecidable(run)}`,
  )
}

function unknownIn(keys: Iterable<string>, ids: readonly string[]): readonly string[] {
  const unknown = new Set(ids)
  for (const text of keys) {
    const [, id = '', , value = ''] = parseKey(text) ?? []
    unknown.delete(id)
    unknown.delete(value)
  }
  return [...unknown]
}

/** A decision about several reasons needs --code or --all, so that the operator has seen each. */
function requireOneReason(
  { run }: RunRecord,
  { does, selection }: Omit<Decision, 'at'>,
  chosen: Chosen,
): void {
  const { ids, only, code, isAll } = selection
  if (isAll === true || [ids, only, code].some((each) => each !== undefined)) return
  const keys = new Map<string, string[]>()
  for (const [text, codes] of chosen) for (const each of codes) listAt(keys, each).push(text)
  if (keys.size <= 1) return
  const reasons = [...keys].map(([each, texts]) => `${each} (${digits(countChanges(texts, chosen))})`)
  throw new DirsyncdError(
    'usage',
    `Run ${run} asks for ${keys.size} reasons: ${reasons.join(', ')}. ${does === 'approve' ? 'Approve' : 'Reject'} one of them with --code CODE, or all of them with --all.`,
  )
}

function countChanges(texts: readonly string[], chosen: Chosen): number {
  const changes = new AskedChanges((text) => chosen.has(text))
  for (const text of texts) changes.add(text)
  return changes.size
}

async function nothingToDecide(
  db: Db,
  of: RunRecord,
  ledger: Ledger,
  shown: Shown,
  { does, selection: { code, only } }: Omit<Decision, 'at'>,
): Promise<DirsyncdError> {
  const { run, state, finished_at: end, blocks } = of
  const { codes } = shown
  const decisions = new Decisions(ledger)
  const before = ((await decisionsAbout(db, [run])).get(run) ?? []).map(decisionText).join(', and ')
  const part = code ?? only?.join(' or ')
  const isRejected = [...codes.keys()].some((text) => decisions.rejectionOf(text) !== undefined)
  const overrule = isRejected
    ? ' What is rejected is approved by --id, or all of it with --code rejected.'
    : ''
  if (part !== undefined && codes.size > 0) {
    const known = new Set([...codes.values()].flatMap((each) => [...each]))
    const isKnown = code === undefined || known.has(code)
    const what = code === undefined ? `no ${part}` : `nothing ${isKnown ? 'of' : 'called'} ${cut(part)}`
    const was = before === '' ? '' : ` (it was ${before})`
    const hint = isKnown ? overrule : ` Its reasons are ${[...known].join(', ')}.${undecidable(of)}`
    return new DirsyncdError('usage', `Run ${run} has ${what} left to decide about${was}.${hint}`)
  }
  const isAny = [...codes.keys()].some((text) => !isOver(ledger, shown, text))
  // Reasons that end by themselves: an approval may end them, but no operator is asked.
  const unasked = before === '' && isAny ? codesUntil(blocks, ['time']) : []
  const commands = unasked.map((each) => `\`dirsyncd ${does} ${run} --code ${each}\``).join(' or ')
  const where =
    commands === ''
      ? '`dirsyncd runs` shows which run asks now.'
      : `A decision about its blocked changes needs their reason: ${commands}.`
  const undecided = isAny ? 'all of it is decided' : 'it shows nothing that is still to be made'
  const unknown = codes.size === 0 && end === null ? `it is ${state}` : undecided
  const why = before === '' ? unknown : `it was ${before}`
  return new DirsyncdError(
    'run-unknown',
    `Run ${run} has nothing to decide about: ${why}. ${where}${undecidable(of)}${overrule}`,
  )
}

function undecidable({ run, blocks }: RunRecord): string {
  const codes = codesUntil(blocks, ['read', 'configuration', 'service']).join(', ')
  return codes === '' ? '' : ` No decision ends the block ${codes}: \`dirsyncd runs ${run}\` says what does.`
}

function codesUntil(blocks: RunRecord['blocks'], ends: readonly Until[]): readonly BlockCode[] {
  const some = (blocks ?? []).filter(({ until, changes }) => changes > 0 && ends.includes(until))
  return [...new Set(some.map(({ code }) => code))]
}
