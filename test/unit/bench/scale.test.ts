import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { chartOf, type Line } from '../../../bench/chart.ts'
import { pageWith, picturesOf } from '../../../bench/scale-page.ts'
import type { Scale } from '../../../bench/scale.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const scale = JSON.parse(read('bench/scale.json')) as Scale

test('docs/scale.md and its picture show the figures of bench/scale.json; otherwise `npm run bench -- --draw`', () => {
  const page = read('docs/scale.md')
  expect(pageWith(page, scale)).toBe(page)
  expect(picturesOf(scale)).toBe(read('docs/scale.svg'))
})

test('labels of lines that end at the same place do not touch', () => {
  const lines = ['a', 'b', 'c'].map((label): Line => ({
    label,
    color: 'one',
    isDashed: false,
    points: [
      [1, 1],
      [10, 2],
    ],
  }))
  const svg = chartOf([{ title: 'Time', inWords: String, lines }], 'users')
  const tops = [...svg.matchAll(/<text class="one" x="\d+" y="([\d.]+)"/g)].map(([, y]) => Number(y))
  expect(tops).toHaveLength(3)
  const gaps = tops.slice(1).map((top, index) => Math.abs(top - tops[index]!))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(17)
})
