import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PROTECTIONS } from '../protections/table/index.ts'

test('each patch of the table of protections still applies, and names a test file that exists', () => {
  const stale = PROTECTIONS.filter(({ file, find, test: testFile }) => {
    const source = `src/${file}`
    const isFound = existsSync(source) && readFileSync(source, 'utf8').split(find).length === 2
    return !isFound || !existsSync(`test/${testFile}`)
  })
  expect(stale.map(({ name }) => name)).toEqual([])
})
