import type { Ram } from './ram.ts'

export async function quarantined(ram: Ram, _sync: string, _target: string) {
  const recent = [...ram.quarantine].filter(([, { at }]) => ram.isRecent(at))
  return recent.map(([fingerprint, { code, detail }]) => ({ fingerprint, code, detail }))
}

export async function forgetOtherQuarantined(
  ram: Ram,
  _sync: string,
  _target: string,
  fingerprints: readonly string[],
): Promise<void> {
  const kept = new Set(fingerprints)
  for (const print of ram.quarantine.keys()) if (!kept.has(print)) ram.quarantine.delete(print)
}
