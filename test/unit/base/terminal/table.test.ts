import { expect, test } from 'vitest'
import { renderTable } from '../../../../src/base/terminal/table.ts'

test('a table may have more rows than a call may have arguments', () => {
  const rows = Array.from({ length: 140_000 }, (_, index) => [`u${index}`])
  expect(renderTable(['USER'], rows)).toHaveLength(rows.length + 1)
})
