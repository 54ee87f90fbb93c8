import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileUserMap } from '../../../../src/source/mapping.ts'

const page = readFileSync(new URL('../../../../docs/mapping.md', import.meta.url), 'utf8')

const entry: Readonly<Record<string, readonly string[]>> = JSON.parse(
  /<!-- entry -->\s+```json\n(.*?)```/s.exec(page)?.[1] ?? '',
)

const examples = [
  ...(page.split('<!-- examples -->')[1] ?? '').matchAll(
    /^\|.*\| `([^|]+)` +\| (?:`([^`]*)`|no value) +\|$/gm,
  ),
].map(([, expression = '', result]) => [expression, result] as const)

test('the page has its examples', () => {
  expect(examples.length).toBeGreaterThan(25)
})

test.each(examples)('%s', (expression, result) => {
  const map = compileUserMap({ external_id: 'uid', email: `= ${expression}` }, 'users.map', () => undefined)
  expect(map.email.valueOf((attribute) => entry[attribute] ?? [])).toBe(result)
})

test('every function is on the page', () => {
  const names = /the functions are (.*), and for lists (.*)$/.exec(refusal('nothing(uid)'))
  const functions = names?.[1]?.split(', ') ?? []
  expect(functions).toContain('lower')
  expect(functions.filter((name) => !page.includes(`\`${name}(`))).toEqual([])
  const ofLists = names?.[2]?.split(', ') ?? []
  expect(ofLists).toContain('.filter')
  expect(ofLists.filter((name) => !page.includes(`\`list${name}(`))).toEqual([])
})

function refusal(expression: string): string {
  try {
    compileUserMap({ external_id: 'uid', email: `= ${expression}` }, 'users.map', () => undefined)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}
