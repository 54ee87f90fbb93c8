import { expect, test } from 'vitest'
import { keysText } from '../../../../src/ui/messages/words.ts'

test('many changed options are counted', () => {
  const keys = Array.from({ length: 10 }, (_, index) => `key${index}`)
  expect(keysText(keys)).toBe('key0, key1, key2, key3, key4, key5, key6, key7, 2 more')
  expect(keysText(keys.slice(0, 8))).toBe('key0, key1, key2, key3, key4, key5, key6, key7')
})
