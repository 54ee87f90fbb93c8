import { afterAll, beforeAll } from 'vitest'

const METHODS = [
  [Set.prototype, ['has', 'add', 'delete']],
  [Map.prototype, ['get', 'has', 'set', 'delete']],
] as const

export interface WorkCounter {
  /** How often collections were asked or changed until now. */
  readonly count: number
}

/**
 * Counts what the code under test does with sets and maps, in one test file: a measure of work without a clock, which a
 * busy machine would spoil. Constructors of collections call these methods, too.
 */
export function useWorkCounter(): WorkCounter {
  let count = 0
  const undo: (() => void)[] = []
  beforeAll(() => {
    for (const [prototype, names] of METHODS) {
      const methods = prototype as unknown as Record<string, (...given: unknown[]) => unknown>
      for (const name of names) {
        const original = methods[name]!
        methods[name] = function (...given) {
          count += 1
          return original.apply(this, given)
        }
        undo.push(() => {
          methods[name] = original
        })
      }
    }
  })
  afterAll(() => {
    for (const each of undo) each()
  })
  return {
    get count() {
      return count
    },
  }
}
