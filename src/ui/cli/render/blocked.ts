import { printable } from '../../../base/printable.ts'
import { digits } from '../../../base/wording.ts'
import type { BlockCode, FactsOf } from '../../../core/block.ts'
import type { ChangeReason, ChangeView, RunView } from '../../../operations/control.ts'
import { total } from '../../../operations/total.ts'
import { BLOCKS, blockText, keptEmailText, reasonText } from '../../messages/blocks.ts'
import { isAsked, isDecided } from '../../messages/ends.ts'
import { renderChange } from './change.ts'

/** Each change is named. */
export const ALL = Number.MAX_SAFE_INTEGER

interface Cause {
  readonly code: BlockCode
  readonly text: string
}

/** Changes with the same reasons, all of them open or none. */
interface Group {
  readonly causes: readonly Cause[]
  readonly isOpen: boolean
  readonly changes: ChangeView[]
}

/** Blocked changes without a question are mostly the same in each run. */
const SHOWN_BLOCKED = 5

/** The questions, and the other blocked changes. */
export function renderBlocked(view: RunView, shown: number): Readonly<Record<'asked' | 'blocked', string[]>> {
  const groups = groupsOf(view)
  const section = (title: string, some: readonly Group[], most: number): string[] =>
    some.length === 0 ? [] : [title, ...some.flatMap((group) => groupLines(view, groups, group, most)), '']
  const [waiting, others] = partition(groups, ({ causes }) => causes.length === 0)
  const [asked, blocked] = partition(others, ({ causes }) => causes.some(({ code }) => asks(view, code)))
  const [open, decided] = partition(asked, ({ isOpen }) => isOpen)
  return {
    asked: [...section('Needs approval:', open, shown), ...(open.length === 0 ? [] : [howToDecide(view)])],
    blocked: [
      ...section(isDecided(view) ? 'Waited for the decision:' : 'Waits for the decision:', waiting, shown),
      ...section('Asked about, no longer open:', decided, shown),
      ...section('Blocked:', blocked, shown === ALL ? ALL : Math.min(shown, SHOWN_BLOCKED)),
    ].slice(0, -1),
  }
}

function partition<T>(all: readonly T[], test: (each: T) => boolean): readonly [T[], T[]] {
  return [all.filter(test), all.filter((each) => !test(each))]
}

function asks({ blocks }: RunView, code: BlockCode): boolean {
  const own = blocks.filter((block) => block.code === code)
  return code !== 'rejected' && (own.length === 0 || own.some(isAsked))
}

function groupsOf(view: RunView): readonly Group[] {
  const groups = new Map<string, Group>()
  const groupOf = (causes: readonly Cause[], isOpen: boolean): Group => {
    const key = JSON.stringify([causes, isOpen])
    const group = groups.get(key) ?? { causes, isOpen, changes: [] }
    groups.set(key, group)
    return group
  }
  const isAll = isDecided(view)
  for (const change of view.changes)
    if (change.state === 'blocked')
      groupOf(causesOf(change), !isAll && change.isOpen !== false).changes.push(change)
  // A fact has no changes, and memberships that end with a delayed delete are not listed.
  for (const block of view.blocks) {
    const reason = view.reasons.find(({ code }) => code === block.code)
    if (block.changes > 0 || !isAsked(block) || (block.asks === null && reason === undefined)) continue
    groupOf([{ code: block.code, text: blockText(block) }], !isAll && reason?.isOpen !== false)
  }
  return [...groups.values()]
}

function causesOf(view: ChangeView): readonly Cause[] {
  const { reasons, keptBy } = view
  const causes = new Map<BlockCode, Cause>()
  if (keptBy !== undefined && isOfKeptEmail(view))
    causes.set('rejected', { code: 'rejected', text: keptEmailText(keptBy) })
  for (const reason of reasons)
    if (reason.code !== 'asked') causes.set(reason.code, { code: reason.code, text: textOf(reason) })
  for (const { code: repeated, facts } of reasons) {
    if (repeated !== 'asked' || facts === null) continue
    for (const code of (facts as FactsOf<'asked'>).codes as readonly BlockCode[])
      if (!causes.has(code)) causes.set(code, { code, text: `${BLOCKS[code].meaning}; an earlier run asked` })
  }
  return [...causes.values()]
}

/** The change would write only the e-mail, and its owner keeps that. */
function isOfKeptEmail({ change, reasons, keptBy }: ChangeView): boolean {
  return (
    keptBy !== undefined &&
    reasons.length === 0 &&
    change.op === 'update-user' &&
    change.want.name === undefined
  )
}

/** Names the operator once for all changes that were rejected together. */
function textOf(reason: ChangeReason): string {
  return reason.code === 'rejected' ? reasonText(reason) : blockText(reason)
}

function groupLines(view: RunView, groups: readonly Group[], group: Group, most: number): string[] {
  const { causes, changes } = group
  const some = changes.slice(0, most)
  const isCut = view.changes.length < view.totalChanges
  const numbers = causes.map((cause) => numberOf(view, isCut ? undefined : groups, group, cause))
  const all = isCut && numbers.length === 1 ? (numbers[0] ?? changes.length) : changes.length
  const isOpen = group.isOpen || !causes.some(({ code }) => asks(view, code))
  const remedies = new Set(causes.map(({ code }) => BLOCKS[code].remedy.replaceAll('RUN', String(view.run))))
  return [
    ...causes.map(
      (cause, at) =>
        `  ${cause.code}${countText(view, group, cause, numbers[at]!)}: ${printable(cause.text)}`,
    ),
    ...some.map((change) => `    ${renderChange(change)}${ownText(change)}`),
    ...(all > some.length ? [`    … and ${digits(all - some.length)} more, --all shows them`] : []),
    ...(isOpen ? [...remedies].map((remedy) => `    ${remedy}`) : []),
  ]
}

/** An open change may have a decided reason, too. */
function countText(view: RunView, group: Group, { code }: Cause, number: number): string {
  const isOver = view.reasons.find((reason) => reason.code === code)?.isOpen === false
  const isMarked = isOver && group.isOpen && view.mode === 'sync' && asks(view, code)
  return `${number === 0 ? '' : ` (${digits(number)})`}${isMarked ? ' (decided)' : ''}`
}

/** @param groups `undefined` where the list is cut, so that only the run's own counts are known */
function numberOf(
  { blocks, reasons }: RunView,
  groups: readonly Group[] | undefined,
  { isOpen }: Group,
  { code, text }: Cause,
): number {
  if (groups !== undefined) {
    const named = groups.filter(
      (group) =>
        group.isOpen === isOpen && group.causes.some((each) => each.code === code && each.text === text),
    )
    return named.reduce((sum, { changes }) => sum + changes.length, 0)
  }
  const { changes = {}, open = {} } = reasons.find((each) => each.code === code) ?? {}
  const decided = total(changes) - total(open)
  if (decided > 0 && total(open) > 0) return isOpen ? total(open) : decided
  const block = blocks.find((each) => each.code === code && (code === 'rejected' || blockText(each) === text))
  return block?.changes ?? total(changes)
}

/** Facts of this change alone, such as until when its delete is delayed. */
function ownText(view: ChangeView): string {
  const { reasons, keptBy } = view
  const own = reasons.filter(({ code, facts }) => facts !== null && code !== 'asked' && code !== 'rejected')
  const texts = own.filter(({ code }) => 'one' in BLOCKS[code]).map((reason) => printable(reasonText(reason)))
  if (keptBy !== undefined && !isOfKeptEmail(view)) texts.push(printable(keptEmailText(keptBy)))
  return texts.length === 0 ? '' : `: ${texts.join('; ')}`
}

function howToDecide({ run, mode, undo, reasons }: RunView): string {
  const commands = `dirsyncd approve ${run} or dirsyncd reject ${run}`
  const open = reasons.filter(({ isOpen }) => isOpen)
  if (open.length > 1)
    return `Decide with ${commands}: --code CODE for one reason, --all for all of them, --id ID or --only NAME for some changes.`
  const when = mode === 'plan' && undo === null ? ' before a sync makes them' : ''
  return `Decide${when} with ${commands}; --id ID or --only NAME for some changes.`
}
