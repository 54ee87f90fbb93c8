import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXIT } from '../../../src/ui/cli/exit-code.ts'
import { DirsyncdError, ERROR_CODES } from '../../../src/base/errors.ts'

const page = readFileSync('docs/errors.md', 'utf8')
const [head = '', ...sections] = page.split('\n## ').slice(1)

/** How long a piece of an example must be to come from a sentence of the program and not by chance. */
const PIECE = 20

test('docs/errors.md has a section for each error code, in their order', () => {
  expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(ERROR_CODES)
})

test('each section names the exit code of its error', () => {
  const named = sections.map((section) => Number(/^Exit code (\d+)\. /m.exec(section)?.[1]))
  expect(named).toEqual(ERROR_CODES.map((code) => new DirsyncdError(code, '').exitCode))
})

test('the table has every exit code once', () => {
  const rows = Array.from(head.matchAll(/^\| (\d+) +\|/gm), ([, code]) => Number(code))
  const ofErrors = ERROR_CODES.map((code) => new DirsyncdError(code, '').exitCode)
  expect(rows).toEqual([...new Set([...Object.values(EXIT), ...ofErrors])].toSorted((a, b) => a - b))
})

test('each example is a sentence that the sources have', () => {
  const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const text = sources.join('\n').replaceAll(/' \+\s+[`']|` \+\s+[`']/g, '')
  const invented = sections.filter((section) => {
    const example = [...section.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join(' ')
    return !piecesOf(example).some((piece) => text.includes(piece))
  })
  expect(invented).toEqual([])
})

function piecesOf(example: string): readonly string[] {
  return Array.from({ length: Math.max(0, example.length - PIECE) }, (_, at) => example.slice(at, at + PIECE))
}
