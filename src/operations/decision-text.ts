import { digits, pointInTime } from '../base/wording.ts'
import type { RecordedDecision } from '../store/run-types.ts'

const IDS_NAMED = 20
const DID = { approve: 'approved', reject: 'rejected', withdraw: 'withdrawn' } as const

/** `approved by ana at 2026-11-26 20:45:39Z (updates): "they moved"` */
export function decisionText({ does, by, at, reason, selection }: RecordedDecision): string {
  const { ids = [], only = [], code } = selection
  const named = ids.length > IDS_NAMED ? [`${digits(ids.length)} ids`] : ids
  const what = [...(code === undefined ? [] : [code]), ...only, ...named].join(', ')
  const about = what === '' ? '' : ` (${what})`
  const why = reason === '' ? '' : `: "${reason}"`
  return `${DID[does]} by ${by} at ${pointInTime(at)}${about}${why}`
}
