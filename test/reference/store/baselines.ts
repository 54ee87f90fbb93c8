import type { Kind } from '../directory/entry.ts'
import type { Baseline } from '../plan/baseline.ts'
import type { Ram } from './ram.ts'

export async function findBaseline(ram: Ram, _of: unknown, kind: Kind): Promise<Baseline | undefined> {
  return ram.baselines[kind]
}

export async function storeBaseline(ram: Ram, _of: unknown, kind: Kind, baseline: Baseline): Promise<void> {
  ram.baselines[kind] = baseline
}

export async function addEmptied(
  ram: Ram,
  _of: unknown,
  kind: Kind,
  emptied: readonly string[],
): Promise<void> {
  const before = ram.baselines[kind]
  if (emptied.length === 0 || before === undefined) return
  ram.baselines[kind] = { ...before, emptied: [...new Set([...before.emptied, ...emptied])].toSorted() }
}
