import { openWrites, unconverged as writtenTwice } from '../../reference/store/convergence.ts'
import type { Ram } from '../../reference/store/ram.ts'

export {
  noteMissedCreates,
  quarantineUnconverged,
  settleUndone,
  settleWrites,
} from '../../reference/store/convergence.ts'

export async function unconverged(ram: Ram, of: unknown) {
  const found = await writtenTwice(ram, of)
  return found.map(({ fingerprint }) => ({ fingerprint, how: 'not-changed' }))
}

export async function openWritesOf(ram: Ram): Promise<ReadonlySet<string>> {
  return new Set(openWrites(ram).map(({ fingerprint }) => fingerprint))
}
