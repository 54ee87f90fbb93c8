import { matching } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/** An entry without a readable id may be any of the absent ones, so nothing is deleted or taken out of a group. */
export const unreadable: Check<Facts> = {
  name: 'unreadable',
  *judge({ wanted, left }) {
    const entries = wanted.snapshots.source.unreadable
    if (entries === 0) return []
    const keys = matching(left, ['leave', 'delete', '-member'])
    return [{ code: 'unreadable', params: { entries }, until: 'read', keys }]
  },
}
