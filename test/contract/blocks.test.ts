import fc from 'fast-check'
import { expect, test } from 'vitest'
import { directoriesFixture } from '../support/fixture.ts'
import type { RunningService } from '../support/service.ts'
import { type ApiAnswer, ask } from './api.ts'
import { describeService } from './with-service.ts'

const TWO = directoriesFixture(['{ id: 7, name: Corporate }', '{ id: 8, name: Beside }'])

/** Entries of each of the two directories, which share the ids: a block has 1,024. */
const MANY = 600

function idsOf(answer: ApiAnswer): string[] {
  return (answer.body as { external_id: string }[]).map((item) => item.external_id)
}

function testBlocks(service: () => RunningService): void {
  const create = async (directoryId: number, from: number, many: number): Promise<void> => {
    const ids = Array.from({ length: many }, (_, index) => `${directoryId}-${from + index}`)
    const users = ids.map((id) => ({ external_id: id }))
    const groups = ids.map((id) => ({ external_id: id, name: id }))
    expect((await ask(service(), 'createUsers', { directoryId, json: { users } })).status).toBe(201)
    expect((await ask(service(), 'createGroups', { directoryId, json: { groups } })).status).toBe(201)
  }

  test('are what counting from the first entry would give, whatever was created and deleted', async () => {
    // The two directories take ids in turns, and every tenth and a whole stretch are deleted: blocks are uneven.
    for (let from = 0; from < MANY; from += 100) {
      await create(7, from, 100)
      await create(8, from, 100)
    }
    const left = new Set(Array.from({ length: MANY }, (_, index) => `7-${index}`))
    const gone = [...left].filter(
      (_, index) => index % 10 === 0 || (index > MANY * 0.4 && index < MANY * 0.55),
    )
    for (const externalId of gone) {
      expect((await ask(service(), 'deleteUser', { externalId })).status).toBe(204)
      expect((await ask(service(), 'deleteGroup', { externalId })).status).toBe(204)
      left.delete(externalId)
    }
    const expected = [...left]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('listUsers', 'listGroups'),
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        async (operation, perPage, share) => {
          const page = Math.floor((share * expected.length) / perPage) + 1
          const answer = await ask(service(), operation, { query: `?page=${page}&per_page=${perPage}` })
          expect(idsOf(answer)).toEqual(expected.slice((page - 1) * perPage, page * perPage))
          expect(answer.headers.get('total')).toBe(String(expected.length))
        },
      ),
      { numRuns: 12 },
    )
  })
}

describeService('pages over many blocks of ids', { fixture: TWO }, testBlocks)
