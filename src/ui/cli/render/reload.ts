import type { ReloadReport } from '../../../operations/reload.ts'
import { keysText } from '../../messages/words.ts'

export function renderReload(report: ReloadReport, file: string): readonly string[] {
  const { added, changed, removed, applied, needRestart } = report
  const lines = [
    ...added.map((sync) => `added ${sync}`),
    ...changed.map(({ sync, keys }) => `changed ${sync} (${keysText(keys)})`),
    ...removed.map((sync) => `removed ${sync}`),
    ...(applied.length === 0 ? [] : [`changed ${keysText(applied)}`]),
    ...(needRestart.length === 0 ? [] : [`not applied before a restart: ${keysText(needRestart)}`]),
  ]
  const other =
    report.file === file
      ? []
      : [`The daemon was started with another file, and has read that: ${report.file}`]
  return [...(lines.length === 0 ? ['nothing was changed'] : lines), ...other]
}
