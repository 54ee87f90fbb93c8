import type { Rejection } from '../../../src/core/notice.ts'
import { decisionsOf as decisions } from '../../reference/store/decisions.ts'
import type { Ram } from '../../reference/store/ram.ts'

export { approvedIn } from '../../reference/store/decisions.ts'

export async function decisionsOf(ram: Ram, of: { readonly isUndo: boolean }) {
  const { approved, rejected } = await decisions(ram, of)
  return { approved, rejected: new Map([...rejected.keys()].map((print) => [print, rejection(ram, print)])) }
}

function rejection(ram: Ram, print: string): Rejection {
  const { by, run } = ram.decisions.get(print)!
  return { by, run, at: new Date(ram.now).toISOString(), release: 'alone' }
}
