import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { EmbeddedPool } from '../../../../src/base/database/embedded.ts'

export const TABLE = 'create table public.t (n int primary key, text text)'

export const add = 'insert into public.t (n) values ($1)'

export async function numbersIn(pool: EmbeddedPool): Promise<number[]> {
  const { rows } = await pool.query<{ n: number }>('select n from public.t order by n')
  return rows.map(({ n }) => n)
}

type Ending = 'COMMIT' | 'ROLLBACK' | 'release' | 'destroy' | 'fail'
const ending = constantFrom<Ending>('COMMIT', 'ROLLBACK', 'release', 'destroy', 'fail')

async function transact(pool: EmbeddedPool, rows: readonly number[], end: Ending): Promise<void> {
  const client = await pool.connect()
  await client.query('BEGIN')
  for (const row of rows) await client.query(add, [row])
  if (end === 'fail') await client.query('select 1/0').catch(() => undefined)
  if (end === 'COMMIT' || end === 'ROLLBACK') await client.query(end)
  client.release(end === 'destroy')
}

/** @param opened has the table */
export function testTransactions(opened: () => EmbeddedPool, numRuns: number): void {
  test('many transactions at once: exactly what was committed is there', async () => {
    const transactions = array(record({ length: integer({ min: 0, max: 3 }), end: ending }), {
      maxLength: 15,
    })
    await assert(
      asyncProperty(transactions, async (plans) => {
        const pool = opened()
        await pool.query('truncate public.t')
        let next = 0
        const expected: number[] = []
        const runs = plans.map(({ length, end }) => {
          const rows = Array.from({ length }, () => (next += 1))
          if (end === 'COMMIT') expected.push(...rows)
          return transact(pool, rows, end)
        })
        await Promise.all(runs)
        expect(await numbersIn(pool)).toEqual(expected)
      }),
      { numRuns },
    )
  })
}
