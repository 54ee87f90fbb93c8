import type { Kind } from '../core/entries/entry.ts'
import { cut } from '../base/wording.ts'
import type { QuarantinedChange, ReleaseRequest } from './control.ts'

/** The requested changes that were not released, as a sentence; `undefined` where there are none. */
export function notReleasedText(
  { sync, scope }: Omit<ReleaseRequest, 'by'>,
  released: readonly QuarantinedChange[],
): string | undefined {
  if (scope === undefined) return undefined
  const missing = [...notAmong(released, 'user', scope.users), ...notAmong(released, 'group', scope.groups)]
  if (missing.length === 0) return undefined
  const where = sync === undefined ? '' : ` of ${sync}`
  return `Not in quarantine${where}: ${missing.join(', ')}; dirsyncd quarantine list shows what is.`
}

function notAmong(released: readonly QuarantinedChange[], kind: Kind, ids: readonly string[]): string[] {
  const found = new Set(released.filter((change) => change.kind === kind).map(({ id }) => id))
  return ids.filter((id) => !found.has(id)).map((id) => `${kind} ${cut(id)}`)
}
