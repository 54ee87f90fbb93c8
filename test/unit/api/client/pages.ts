import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ListPage, readAllPages } from '../../../../src/api/client/pages.ts'

export interface Item {
  readonly id: number
}

export const DESTINATION = {
  operation: 'listUsers',
  method: 'GET',
  path: '/users',
  scope: 'ORG_READ',
  baseUrl: 'http://x',
} as const

interface Simulated {
  readonly list: ListPage<Item>
  readonly calls: number[]
  ids: number[]
  highestAtOnce: number
}

/** A directory ordered by id, whose `between` is called in front of each answer. */
export function simulate(
  count: number,
  perPage: number,
  {
    between = () => {},
    headers = true,
  }: { between?: (s: Simulated, call: number) => void; headers?: boolean } = {},
): Simulated {
  let atOnce = 0
  const simulated: Simulated = {
    ids: Array.from({ length: count }, (_, index) => index + 1),
    calls: [],
    highestAtOnce: 0,
    async list({ page }) {
      simulated.calls.push(page)
      atOnce += 1
      simulated.highestAtOnce = Math.max(simulated.highestAtOnce, atOnce)
      await Promise.resolve()
      between(simulated, simulated.calls.length)
      atOnce -= 1
      const ids = simulated.ids.slice((page - 1) * perPage, page * perPage)
      const shape = headers
        ? { total: simulated.ids.length, perPage }
        : { total: undefined, perPage: undefined }
      return { items: ids.map((id) => ({ id })), ...shape, destination: DESTINATION }
    },
  }
  return simulated
}

export const key = ({ id }: Item): number => id
export const idsOf = (items: readonly Item[]): number[] => items.map(key)

const step = fc.record({
  call: fc.integer({ min: 1, max: 40 }),
  removals: fc.array(fc.nat(), { maxLength: 4 }),
  additions: fc.nat({ max: 4 }),
})

export function testMovingList(numRuns: number): void {
  test('an item that is there throughout is never missed and never listed twice, whatever comes and goes', async () => {
    const scenario = fc.record({
      count: fc.integer({ min: 0, max: 40 }),
      perPage: fc.integer({ min: 1, max: 7 }),
      concurrency: fc.integer({ min: 1, max: 4 }),
      headers: fc.boolean(),
      steps: fc.array(step, { maxLength: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ count, perPage, concurrency, headers, steps }) => {
        const throughout = new Set(Array.from({ length: count }, (_, index) => index + 1))
        let next = count + 1
        const directory = simulate(count, perPage, {
          headers,
          between(s, call) {
            for (const { removals, additions } of steps.filter((each) => each.call === call)) {
              for (const removal of removals) {
                const [removed] = s.ids.splice(removal % Math.max(1, s.ids.length), 1)
                if (removed !== undefined) throughout.delete(removed)
              }
              for (let i = 0; i < additions; i += 1) s.ids.push(next++)
            }
          },
        })
        const { items } = await readAllPages(directory.list, { key, concurrency })
        const read = new Set(idsOf(items))
        expect(read.size).toBe(items.length)
        expect([...throughout].filter((id) => !read.has(id))).toEqual([])
      }),
      { numRuns },
    )
  })
}
