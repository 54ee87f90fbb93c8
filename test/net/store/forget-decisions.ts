import type { StillWanted } from '../../../src/store/forget-decisions.ts'
import { forgetOtherDecisions } from '../../reference/store/forget-decisions.ts'
import type { Ram } from '../../reference/store/ram.ts'

export { spendApprovals } from '../../reference/store/forget-decisions.ts'

export async function decisionsOver(_ram: Ram, of: unknown, { open, unjudged, asked }: StillWanted) {
  const ids = await unjudged()
  const lists = ids === 'all' ? ids : { user: [...ids.user], group: [...ids.group] }
  return (ram: Ram) => forgetOtherDecisions(ram, of, [...open], () => lists, asked as never)
}
