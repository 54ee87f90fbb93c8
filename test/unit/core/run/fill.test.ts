import { test } from 'vitest'
import { fill } from './fill.ts'

test('59 a fill keeps no keys', () => {
  fill(50_000)
})
