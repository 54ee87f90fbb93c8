import { byCodeUnit } from './normalize.ts'
import type { Notice } from './snapshot.ts'

/** The order of notices in a report: users before groups, then by id, code and detail; the order of reading is not in it. */
export function compareNotices(a: Notice, b: Notice): number {
  return (
    byCodeUnit(b.kind, a.kind) ||
    byCodeUnit(a.id ?? '', b.id ?? '') ||
    byCodeUnit(a.code, b.code) ||
    byCodeUnit(a.detail, b.detail)
  )
}
