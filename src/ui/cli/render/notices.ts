import type { RunView } from '../../../operations/control.ts'
import { NOTICES, noticeText } from '../../messages/notices.ts'
import type { Notice } from '../../../core/notice.ts'
import { digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'

export function renderNotices(
  { notices, counts, sameNotices }: Pick<RunView, 'notices' | 'counts' | 'sameNotices'>,
  { shown, all }: { readonly shown: number; readonly all: boolean },
): string[] {
  const lines: string[] = []
  for (const [code, group] of Map.groupBy(notices, (notice) => notice.code)) {
    const total = Math.max(group.length, counts?.notices[code] ?? 0)
    const { meaning, remedy } = NOTICES[code]
    const heading = `${code} (${digits(total)}): ${meaning}`
    if (sameNotices?.codes.includes(code) === true && !all) {
      lines.push(`${heading}; the same as in run ${sameNotices.run}, --all shows them`)
      continue
    }
    lines.push(heading)
    for (const notice of group.slice(0, shown)) lines.push(`  ${renderNotice(notice)}`)
    if (total > shown)
      lines.push(`  … and ${digits(total - Math.min(shown, group.length))} more, --all shows them`)
    if (remedy !== undefined) lines.push(`  ${remedy}`)
  }
  return lines
}

function renderNotice(notice: Notice): string {
  const { kind, id } = notice
  const name = id === undefined ? kind : `${kind} ${printable(id)}`
  return `${name}  ${printable(noticeText(notice))}`
}
