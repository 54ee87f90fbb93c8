import { refusalText } from '../../messages/blocks.ts'
import type { QuarantinedChange } from '../../../operations/control.ts'
import { amount, cut, pointInTime } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { renderTable } from '../../../base/terminal/table.ts'

const HEAD = ['SYNC', 'ID', 'REFUSED', 'SINCE', 'TRIED AGAIN']

/** `now` is an ISO time. */
export function renderQuarantine(changes: readonly QuarantinedChange[], now: string): string[] {
  if (changes.length === 0) return ['Nothing is in quarantine.']
  const [head = '', ...rows] = renderTable(
    HEAD,
    changes.map((change) => row(change, now)),
  )
  return [head, ...rows.flatMap((line, at) => [line, `  ${whomAndWhy(changes[at]!)}`])]
}

function whomAndWhy({ name, refusal }: QuarantinedChange): string {
  const detail = refusalText(refusal)
  return name === null ? printable(detail) : `${printable(cut(name))}: ${printable(detail)}`
}

function row(change: QuarantinedChange, now: string): string[] {
  const { sync, id, op, since, triedAgainAt } = change
  return [
    sync,
    printable(id),
    op,
    pointInTime(since),
    triedAgainAt <= now ? 'in the next run' : `after ${pointInTime(triedAgainAt)}`,
  ]
}

export function renderReleased(released: readonly QuarantinedChange[]): string {
  if (released.length === 0) return 'Nothing is in quarantine, so nothing was released.'
  const bySync = Map.groupBy(released, ({ sync }) => sync)
  const parts = [...bySync].map(([sync, changes]) => `${changes.length} of ${sync}`)
  const next = [...bySync.keys()].map((sync) => `dirsyncd sync ${sync}`).join(' or ')
  const them = released.length === 1 ? 'it' : 'them'
  return (
    `Released ${amount(released.length, 'change')} from quarantine: ${parts.join(', ')}. ` +
    `The next run tries ${them} again, on schedule or now with ${next}.`
  )
}
