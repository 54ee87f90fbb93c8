import { test } from 'vitest'
import { fill } from './fill.ts'
import { checkWorlds } from './worlds.ts'

test('58 many random worlds: never a blocked key, needs first, the same plan, approving all ends all', () => {
  checkWorlds(150, 4000)
})

test('59 a fill of a million users keeps no keys', () => {
  fill(1_000_000)
})
