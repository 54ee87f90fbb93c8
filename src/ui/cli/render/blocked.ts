import { printable } from '../../../base/printable.ts'
import { digits } from '../../../base/wording.ts'
import type { BlockCode, FactsOf } from '../../../core/block.ts'
import type { ChangeReason, ChangeView, RunView } from '../../../operations/control.ts'
import { total } from '../../../operations/total.ts'
import { BLOCKS, blockText, reasonText } from '../../messages/blocks.ts'
import { isAsked } from '../../messages/ends.ts'
import { renderChange } from './change.ts'

/** Each change is named. */
export const ALL = Number.MAX_SAFE_INTEGER

interface Cause {
  readonly code: BlockCode
  readonly text: string
}

/** Changes with the same reasons. */
interface Group {
  readonly causes: readonly Cause[]
  readonly changes: ChangeView[]
}

/** What no operator has to decide is mostly the same in each run. */
const SHOWN_BLOCKED = 5

/** What a run did not make: what only the stop of the plan blocks, what no operator has to decide, what the run asks. */
export function renderBlocked(view: RunView, shown: number): string[] {
  const groups = groupsOf(view)
  const section = (title: string, some: readonly Group[], most: number): string[] =>
    some.length === 0 ? [] : [title, ...some.flatMap((group) => groupLines(view, groups, group, most)), '']
  const [waiting, others] = partition(groups, ({ causes }) => causes.length === 0)
  const [asked, blocked] = partition(others, ({ causes }) => causes.some(({ code }) => asks(view, code)))
  return [
    ...section('Waits for the decision:', waiting, shown),
    ...section('Blocked:', blocked, shown === ALL ? ALL : Math.min(shown, SHOWN_BLOCKED)),
    ...section(isDecided(view) ? 'Asked about, and decided:' : 'Needs approval:', asked, shown),
    ...(asked.length === 0 || isDecided(view) ? [] : [howToDecide(view), '']),
  ]
}

function partition<T>(all: readonly T[], test: (each: T) => boolean): readonly [T[], T[]] {
  return [all.filter(test), all.filter((each) => !test(each))]
}

/** A plan asks nothing itself: its number can be approved all the same. */
function isDecided({ mode, questions, decisions }: RunView): boolean {
  return questions === 0 && (mode === 'sync' || decisions.length > 0)
}

/** The codes that an operator decides about, and the facts. */
function asks({ blocks }: RunView, code: BlockCode): boolean {
  return (
    blocks.some((block) => block.code === code && isAsked(block)) ||
    !blocks.some((block) => block.code === code)
  )
}

function groupsOf(view: RunView): readonly Group[] {
  const groups = new Map<string, Group>()
  const groupOf = (causes: readonly Cause[]): Group => {
    const key = JSON.stringify(causes)
    const group = groups.get(key) ?? { causes, changes: [] }
    groups.set(key, group)
    return group
  }
  for (const change of view.changes)
    if (change.state === 'blocked') groupOf(causesOf(change)).changes.push(change)
  for (const block of view.blocks)
    if (block.asks !== null && block.changes === 0) groupOf([{ code: block.code, text: blockText(block) }])
  return [...groups.values()]
}

/** What an earlier run asked about has the reasons of that run. */
function causesOf({ reasons }: ChangeView): readonly Cause[] {
  const causes = new Map<BlockCode, Cause>()
  for (const reason of reasons)
    if (reason.code !== 'asked') causes.set(reason.code, { code: reason.code, text: textOf(reason) })
  for (const { code: repeated, facts } of reasons) {
    if (repeated !== 'asked' || facts === null) continue
    for (const code of (facts as FactsOf<'asked'>).codes as readonly BlockCode[])
      if (!causes.has(code)) causes.set(code, { code, text: `${BLOCKS[code].meaning}; an earlier run asked` })
  }
  return [...causes.values()]
}

/** Names the operator once for all changes that were rejected together. */
function textOf(reason: ChangeReason): string {
  return reason.code === 'rejected' ? reasonText(reason) : blockText(reason)
}

function groupLines(view: RunView, groups: readonly Group[], group: Group, most: number): string[] {
  const { causes, changes } = group
  const some = changes.slice(0, most)
  const isCut = view.changes.length < view.totalChanges
  const numbers = causes.map((cause) => numberOf(view, isCut ? undefined : groups, cause))
  const all = isCut && numbers.length === 1 ? (numbers[0] ?? changes.length) : changes.length
  const isOpen = causes.length > 0 && asks(view, causes[0]!.code) ? !isDecided(view) : true
  const remedies = new Set(causes.map(({ code }) => BLOCKS[code].remedy.replaceAll('RUN', String(view.run))))
  return [
    ...causes.map(
      (cause, at) => `  ${cause.code}${countText(view, cause, numbers[at]!)}: ${printable(cause.text)}`,
    ),
    ...some.map((change) => `    ${renderChange(change)}${ownText(change)}`),
    ...(all > some.length ? [`    … and ${digits(all - some.length)} more, --all shows them`] : []),
    ...(isOpen ? [...remedies].map((remedy) => `    ${remedy}`) : []),
  ]
}

function countText(view: RunView, { code }: Cause, number: number): string {
  const isOpen = view.reasons.find((reason) => reason.code === code)?.isOpen
  const isMarked = isOpen === false && asks(view, code) && view.mode === 'sync' && !isDecided(view)
  return `${number === 0 ? '' : ` (${digits(number)})`}${isMarked ? ' (decided)' : ''}`
}

/** @param groups `undefined` where the list is cut, so that only the run's own counts are known */
function numberOf(
  { blocks, reasons }: RunView,
  groups: readonly Group[] | undefined,
  { code, text }: Cause,
): number {
  if (groups !== undefined) {
    const named = groups.filter(({ causes }) =>
      causes.some((each) => each.code === code && each.text === text),
    )
    return named.reduce((sum, { changes }) => sum + changes.length, 0)
  }
  const block = blocks.find((each) => each.code === code && (code === 'rejected' || blockText(each) === text))
  return block?.changes ?? total(reasons.find((each) => each.code === code)?.changes ?? {})
}

/** What is true of this change alone, such as until when its delete is delayed. */
function ownText({ reasons }: ChangeView): string {
  const own = reasons.filter(({ code, facts }) => facts !== null && code !== 'asked' && code !== 'rejected')
  const texts = own.filter(({ code }) => 'one' in BLOCKS[code]).map((reason) => printable(reasonText(reason)))
  return texts.length === 0 ? '' : `: ${texts.join('; ')}`
}

function howToDecide({ run, mode, reasons }: RunView): string {
  const commands = `dirsyncd approve ${run} or dirsyncd reject ${run}`
  const open = reasons.filter(({ isOpen }) => isOpen)
  if (open.length > 1)
    return `Decide with ${commands}: --code CODE for one reason, --all for all of them, --id ID or --only NAME for some changes.`
  const when = mode === 'plan' ? ' before a sync makes them' : ''
  return `Decide${when} with ${commands}; --id ID or --only NAME for some changes.`
}
