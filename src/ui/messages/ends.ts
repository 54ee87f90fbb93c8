import { amount, digits } from '../../base/wording.ts'
import type { BlockCode } from '../../core/block.ts'
import type { RunCounts, RunDetail, RunState, RunSummary, StoredBlock } from '../../operations/control.ts'
import { total } from '../../operations/total.ts'
import { amountsText, inWords, isPlural } from './amounts.ts'

type Ended = Pick<
  RunSummary,
  'run' | 'mode' | 'state' | 'counts' | 'blocks' | 'questions' | 'decisions' | 'undo'
> &
  Partial<Pick<RunDetail, 'open' | 'reasons'>>

/**
 * What a run came to; without a full stop: `300 changes made; 135 deletions of users need approval (run 7)`. Says what is
 * asked, rejected and blocked, so that a directory that differs never looks up to date.
 */
export function endText(run: Ended): string {
  const { state } = run
  if (!HAS_ENDED.has(state)) return state
  const parts = [
    state === 'failed' ? 'failed' : '',
    madeText(run),
    ...notMade(run),
    askedText(run),
    rejectedText(run.counts, run.run),
    blockedText(run),
  ]
  return parts.filter((part) => part !== '').join('; ')
}

const HAS_ENDED: ReadonlySet<RunState> = new Set(['planned', 'held', 'done', 'failed'])

function madeText({ state, counts }: Ended): string {
  const planned = counts?.planned ?? {}
  if (total(planned) === 0) return state === 'failed' ? '' : 'no changes'
  if (state === 'planned') return `${amountsText(planned)} to make`
  const made = counts?.outcomes.applied ?? 0
  return made === 0 ? 'no changes made' : `${amount(made, 'change')} made`
}

/** The state as of now: a run that asks is never done, and a decided one is not held. */
export function stateText({
  state,
  counts,
  questions,
  decisions,
}: Pick<Ended, 'state' | 'counts' | 'questions' | 'decisions'>): string {
  if (state === 'failed' || !HAS_ENDED.has(state)) return state
  if (questions > 0) return 'needs approval'
  if (state === 'held') return decisions.length > 0 ? 'decided' : 'held, no open question'
  const rejected = total(counts?.rejected ?? {})
  return state === 'done' && rejected > 0 ? `done, ${digits(rejected)} rejected` : state
}

const NOT_MADE = ['quarantined', 'failed', 'missing'] as const
const DIFFERS = ['shared-id', 'directory-incomplete', 'changed-since', 'not-restored'] as const

/** Changes that failed or cannot be made, by state of a change or code of a notice: `2 quarantined`. */
export function notMade({ counts, undo }: Pick<RunSummary, 'counts' | 'undo'>): readonly string[] {
  const left = new Map<string, number>()
  const add = (what: string, count = 0) => count > 0 && left.set(what, count + (left.get(what) ?? 0))
  for (const state of NOT_MADE) add(state, counts?.outcomes[state])
  for (const code of DIFFERS) add(code, counts?.notices[code])
  // A restored user without the e-mail, or a protected user, differs from before.
  if (undo !== null)
    for (const code of ['duplicate-email', 'protected'] as const) add(code, counts?.notices[code])
  return [...left].map(([what, count]) => `${digits(count)} ${what}`)
}

const FACTS: Readonly<Record<string, string>> = {
  server: 'the state of the server',
  'source-users': 'the number of users in the source',
  'empty-directory': 'the empty directory',
}

/** The facts that a run asks about for these reasons, such as `the state of the server`. */
export function factsOf(
  { blocks }: Pick<Ended, 'blocks'>,
  isMeant: (code: BlockCode) => boolean,
): readonly string[] {
  const asked = blocks.flatMap(({ code, asks }) => (asks !== null && isMeant(code) ? [asks] : []))
  return asked.map(([, name]) => FACTS[name] ?? name)
}

/** `135 deletions of users and the state of the server` */
export function subjectText(counts: RunCounts['asking'], facts: readonly string[]): string {
  return inWords([...(total(counts) > 0 ? [amountsText(counts)] : []), ...facts])
}

export function needText(counts: RunCounts['asking'], facts: readonly string[], what: string): string {
  const isOne = total(counts) === 0 ? facts.length === 1 : facts.length === 0 && !isPlural(counts)
  return `${subjectText(counts, facts)} ${isOne ? 'needs' : 'need'} ${what}`
}

type Asked = Pick<
  Ended,
  'run' | 'mode' | 'counts' | 'blocks' | 'questions' | 'decisions' | 'open' | 'reasons'
>

/** `135 deletions of users need approval (run 7)`; empty for a run that asked nothing. */
export function askedText(ended: Asked): string {
  const { run, mode, counts, questions } = ended
  const isNow = mode === 'sync' && questions > 0
  // The list of runs does not know what is open.
  const open = isNow || mode === 'plan' ? ended.open : undefined
  const isOpen = (code: string) =>
    ended.reasons?.find((reason) => reason.code === code)?.isOpen ?? mode === 'sync'
  const facts = factsOf(ended, (code) => open === undefined || isOpen(code))
  const asking = open ?? counts?.asking ?? {}
  const what = subjectText(asking, facts)
  const undecided = `${amount(questions, 'question')} of run ${run} still to decide`
  if (what === '' && isNow) return undecided
  if (what === '' || (open === undefined && isDecided(ended))) {
    const was = subjectText(
      counts?.asking ?? {},
      factsOf(ended, () => true),
    )
    const how = ended.decisions.length > 0 ? 'decided' : 'not open any more'
    return was === '' ? '' : `what it asked about is ${how} (${was})`
  }
  if (mode === 'sync' && questions < total(asking) + facts.length) return undecided
  return needText(asking, facts, `approval (run ${run})`)
}

/** Nothing of it is open. A plan asks nothing itself, and its number can be approved all the same. */
export function isDecided({
  mode,
  questions,
  decisions,
}: Pick<Ended, 'mode' | 'questions' | 'decisions'>): boolean {
  const isOfAll = decisions.some(({ selection: { ids, only, code } }) => ![ids, only, code].some(Boolean))
  return questions === 0 && (mode === 'sync' || isOfAll)
}

type Rejected = Pick<RunCounts, 'rejected' | 'lastRejection'>

/** `93 deletions of users are rejected (run 7 lists them, the last by ana on 2026-11-28)`; empty where nothing is. */
export function rejectedText(counts: Rejected | null, run?: number): string {
  const rejected = counts?.rejected ?? {}
  if (total(rejected) === 0) return ''
  const last = counts?.lastRejection
  const more = [
    ...(run === undefined ? [] : [`run ${run} lists them`]),
    ...(last ? [`the last by ${last.by} on ${last.at.slice(0, 10)}`] : []),
  ]
  const where = more.length === 0 ? '' : ` (${more.join(', ')})`
  return `${amountsText(rejected)} ${isPlural(rejected) ? 'are' : 'is'} rejected${where}`
}

/** Blocked by neither a question nor a rejection. A run of some entries has blocks that name only others. */
function blockedText({ counts, blocks }: Ended): string {
  const known = total(counts?.asking ?? {}) + total(counts?.rejected ?? {})
  const others = total(counts?.blocked ?? {}) - known
  if (others <= 0) return ''
  const changes = amount(others, known === 0 ? 'change' : 'other change')
  // Most of them only wait for the decision.
  if (blocks.some(({ stops }) => stops)) return `${changes} not made`
  const named = blocks.filter((block) => block.changes > 0 && !isAsked(block) && block.code !== 'rejected')
  const codes = named.map(({ code }) => code)
  return `${changes} blocked${codes.length === 0 ? '' : ` (${[...new Set(codes)].join(', ')})`}`
}

export function isAsked({ code, until, asks }: Pick<StoredBlock, 'code' | 'until' | 'asks'>): boolean {
  return asks !== null || (until === 'decision' && code !== 'rejected')
}
