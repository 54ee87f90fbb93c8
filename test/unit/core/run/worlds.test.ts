import { test } from 'vitest'
import { checkWorld } from './worlds.ts'

test('58 random worlds: never a blocked key, needs first, the same plan, approving all ends all', () => {
  for (let seed = 1; seed <= Number(process.env['WORLDS'] ?? 400); seed += 1)
    try {
      checkWorld(seed)
    } catch (error) {
      throw new Error(`world ${seed}`, { cause: error })
    }
})
