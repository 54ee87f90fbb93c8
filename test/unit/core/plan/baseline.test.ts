import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atOnce, forEachInSteps } from '../../../../src/base/steps.ts'
import * as baselines from '../../../../src/core/plan/baseline.ts'
import type { Places } from '../../../../src/core/entries/snapshot.ts'
import { containerOf } from '../../../../src/core/plan/baseline.ts'

function takeBaseline(...inputs: Parameters<typeof baselines.takeBaseline>) {
  return atOnce(baselines.takeBaseline(...inputs))
}

function findEmptied(...inputs: Parameters<typeof baselines.findEmptied>) {
  return atOnce(baselines.findEmptied(...inputs))
}

/** Entries as lines such as `ou=sales,dc=org: ana bo`. */
function places(...lines: readonly string[]): Places['each'] {
  return function* (visit) {
    for (const line of lines) {
      const [container = '', ids = ''] = line.split(': ')
      for (const id of ids.split(' ')) visit(id, container)
      yield
    }
    return undefined
  }
}

/** What is found when `gone` are absent and the others are where `now` says. */
function emptied(before: Places['each'], now: Places['each'], gone: string): string[] {
  const found = findEmptied(takeBaseline(before), now, gone.split(' '))
  return [...found].map(([container, ids]) => `${container}: ${ids.join(' ')}`)
}

const PEOPLE = 'ou=people,dc=org'
const SALES = `ou=sales,${PEOPLE}`
const LABS = `ou=labs,${PEOPLE}`
const sales = places(`${PEOPLE}: boss`, `${SALES}: a b c d e`)

describe('a container is emptied', () => {
  test('when five are absent and nobody is left', () => {
    expect(emptied(sales, places(`${PEOPLE}: boss`), 'a b c d e')).toEqual([`${SALES}: a b c d e`])
  })

  test('when some of the five were never in the directory', () => {
    expect(emptied(sales, places(`${PEOPLE}: boss`), 'a b')).toEqual([`${SALES}: a b`])
  })

  test('not by four: that many may leave', () => {
    const four = places(`${PEOPLE}: boss`, `${SALES}: a b c d`)
    expect(emptied(four, places(`${PEOPLE}: boss`), 'a b c d')).toEqual([])
  })

  test('not while somebody is left there', () => {
    expect(emptied(sales, places(`${PEOPLE}: boss`, `${SALES}: new`), 'a b c d e')).toEqual([])
  })

  test('also when others moved away meanwhile', () => {
    const many = places(`${PEOPLE}: boss`, `${SALES}: a b c d e m1 m2 m3 m4 m5 m6`)
    const now = places(`${PEOPLE}: boss`, `${LABS}: m1 m2 m3 m4 m5 m6`)
    expect(emptied(many, now, 'a b c d e')).toEqual([`${SALES}: a b c d e`])
  })

  test('with all that is below it, where each unit alone has too few', () => {
    const deep = places(`${PEOPLE}: boss`, `ou=north,${SALES}: a b c`, `ou=south,${SALES}: d e f`)
    expect(emptied(deep, places(`${PEOPLE}: boss`), 'a b c d e f')).toEqual([`${SALES}: a b c d e f`])
  })

  test('and a whole base too', () => {
    expect(emptied(sales, places(), 'a b c d e boss')).toEqual([`${PEOPLE}: a b boss c d e`])
  })

  test('not by a reorganisation, which moves more of a branch than leave', () => {
    const deep = places(`${PEOPLE}: boss`, `ou=north,${SALES}: a b c m1 m2 m3`, `ou=south,${SALES}: d e f m4`)
    const now = places(`${PEOPLE}: boss m1 m2 m3`, `${LABS}: m4`)
    expect(emptied(deep, now, 'a b c d e f')).toEqual([`${SALES}: a b c d e f`])
    const more = places(
      `${PEOPLE}: boss`,
      `ou=north,${SALES}: a b c m1 m2 m3`,
      `ou=south,${SALES}: d e m4 m5 m6`,
    )
    expect(emptied(more, places(`${PEOPLE}: boss m1 m2 m3 m4 m5 m6`), 'a b c d e')).toEqual([])
  })
})

test('who was deleted before, or never read, is in no container', () => {
  const baseline = takeBaseline(sales)
  expect(containerOf(baseline, 'a')).toBe(SALES)
  expect(containerOf(baseline, 'stranger')).toBeUndefined()
})

test('absent entries that are kept count where they were', () => {
  const kept = takeBaseline(places(`${PEOPLE}: boss`), {
    absent: ['b', 'stranger'],
    before: takeBaseline(sales),
  })
  expect(containerOf(kept, 'b')).toBe(SALES)
  expect(containerOf(kept, 'stranger')).toBeUndefined()
})

test('more containers than a baseline tells apart count as those that hold them', () => {
  const lines = Array.from({ length: 3000 }, (_, n) => `ou=u${n},ou=d${n % 10},${PEOPLE}: p${n}`)
  const baseline = takeBaseline(places(...lines))
  expect(baseline.containers).toHaveLength(10)
  expect(containerOf(baseline, 'p17')).toBe(`ou=d7,${PEOPLE}`)
  const gone = Array.from({ length: 300 }, (_, n) => `p${n * 10 + 3}`)
  const now = places(...lines.filter((line) => !line.includes('ou=d3')))
  const found = findEmptied(baseline, now, gone)
  expect([...found].map(([container, ids]) => [container, ids.length])).toEqual([[`ou=d3,${PEOPLE}`, 300]])
})

test('every entry of a baseline is found again, in its container', () => {
  const entry = fc.tuple(fc.string({ minLength: 1 }), fc.nat({ max: 40 }))
  fc.assert(
    fc.property(fc.uniqueArray(entry, { selector: ([id]) => id, maxLength: 200 }), (entries) => {
      const baseline = takeBaseline((visit) =>
        forEachInSteps(entries, ([id, unit]) => visit(id, `ou=${unit},dc=org`)),
      )
      for (const [id, unit] of entries) expect(containerOf(baseline, id)).toBe(`ou=${unit},dc=org`)
      expect(baseline.entries).toEqual(baseline.entries.toSorted())
    }),
  )
})
