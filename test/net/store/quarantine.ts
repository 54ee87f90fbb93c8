import type { Refusal } from '../../../src/core/plan/inputs.ts'
import { quarantined as rows } from '../../reference/store/quarantine.ts'
import type { Ram } from '../../reference/store/ram.ts'

export async function quarantined(ram: Ram, sync: string, target: string) {
  const found = await rows(ram, sync, target)
  return found.map(({ fingerprint, code, detail }) => ({ fingerprint, ...refusalOf(code, detail) }))
}

function refusalOf(code: string, answer: string): Refusal {
  return code === 'quarantined'
    ? { code, params: { answer } }
    : { code: 'does-not-converge', params: { how: 'not-changed' } }
}

export async function allQuarantined(ram: Ram): Promise<readonly string[]> {
  return [...ram.quarantine.keys()]
}

export async function forgetQuarantined(ram: Ram, _of: unknown, prints: readonly string[]): Promise<void> {
  for (const print of prints) ram.quarantine.delete(print)
}
