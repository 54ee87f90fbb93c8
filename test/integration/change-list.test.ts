import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findRun } from '../../src/store/runs.ts'
import { createBrowse } from '../../src/operations/browse.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('changes')

const PEOPLE = 7

/** A run that has created people and a group. */
async function runWithChanges(): Promise<number> {
  for (let nth = 0; nth < PEOPLE; nth += 1)
    bed.company.users.set(`u${nth}`, { name: `Ána Müller ${nth}`, email: `A.${nth}%_@example.org` })
  bed.company.users.set('bad', { name: 'Bad', email: 'bad@other.example' })
  bed.company.groups.set('g', { name: 'Gruppe', members: ['u1'] })
  const harness = await bed.openWithWorker({ maxUserDeletes: 5 })
  const { run } = await harness.sync()
  return run
}

test('changes are paged in both directions, filtered, counted and found', async () => {
  const run = await runWithChanges()
  const browse = createBrowse(bed.db, new Map())
  const numbers = async (
    ...asked: Parameters<typeof browse.changes> extends [number, ...infer Rest] ? Rest : never
  ) => {
    const { changes, isMore } = await browse.changes(run, ...asked)
    return [changes.map(({ number }) => number), isMore]
  }
  const users = { op: 'create-user' } as const
  expect(await numbers(users, { limit: 3 })).toEqual([[1, 2, 3], true])
  expect(await numbers(users, { after: 3, limit: 3 })).toEqual([[4, 5, 6], true])
  expect(await numbers(users, { after: 6, limit: 3 })).toEqual([[7, 8], false])
  expect(await numbers(users, { before: 7, limit: 3 })).toEqual([[4, 5, 6], true])
  expect(await numbers(users, { before: 3, limit: 3 })).toEqual([[1, 2], false])

  const found = async (search: string) => {
    const { changes } = await browse.changes(run, { search }, { limit: 50 })
    return changes.map(({ change }) => change.id).toSorted()
  }
  expect(await found('ANA MULLER 3')).toEqual(['u3'])
  expect(await found('a.4%_')).toEqual(['u4'])
  expect(await found('%')).toHaveLength(PEOPLE)
  expect(await found('gruppe')).toEqual(expect.arrayContaining(['g']))
  expect(await found('nobody\\')).toEqual([])
  expect(await found(' ')).toHaveLength((await browse.changes(run, {}, { limit: 50 })).changes.length)

  expect(await browse.run(run + 1000)).toBeUndefined()
  expect(await browse.changes(run + 1000, {}, { limit: 1 })).toEqual({ changes: [], isMore: false })
})

test('a run says whether its sync still writes to its directory', async () => {
  const run = await runWithChanges()
  const { target } = (await findRun(bed.db, run))!
  const now = async (...targets: [string, string][]) =>
    (await createBrowse(bed.db, new Map(targets)).run(run))?.directoryNow
  expect(await now([bed.sync, target])).toBe('same')
  expect(await now([bed.sync, 'elsewhere'])).toBe('other')
  expect(await now(['another', target])).toBe('none')
})

test('everything of a run is read in parts', async () => {
  const run = await runWithChanges()
  await sql`INSERT INTO dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes, state)
    SELECT ${run}, 100 + n, 'users', 'create-user', 'x' || n, 'f' || n, jsonb_build_object('op', 'create-user',
      'id', 'x' || n, 'want', '{}'::jsonb), 0, 'applied' FROM generate_series(1, 2500) AS n`.execute(bed.db)
  const browse = createBrowse(bed.db, new Map())
  const sizes: number[] = []
  for await (const part of browse.eachChange(run)) sizes.push(part.length)
  expect(sizes).toEqual([1000, 1000, expect.toSatisfy((size: number) => size > 500 && size < 600)])
  const notices = await Array.fromAsync(browse.eachNotice(run))
  expect(notices.flat().map(({ code }) => code)).toContain('read-back')
})
