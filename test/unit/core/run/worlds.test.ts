import { test } from 'vitest'
import { checkWorlds } from './worlds.ts'

test('58 random worlds: never a blocked key, needs first, the same plan, approving all ends all', () => {
  checkWorlds(1, 150)
})
