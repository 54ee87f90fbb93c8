import { vi } from 'vitest'
import { PATIENCE } from './patience.ts'

/** Resolves with what `check` returns once it passes; `expect.poll` is configured to be as patient. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, PATIENCE)
}
