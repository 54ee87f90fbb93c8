import type { Operation } from '../../contract/endpoints.ts'
import { baseRequest } from '../base.ts'
import { anything, type Check, field, reads, together } from '../checks.ts'
import { itemsOf } from '../fixtures.ts'
import { DEFAULT_PAGE, page } from '../pages.ts'
import type { Probing } from '../probing.ts'
import { notesOn, showsEntry } from '../user-ids.ts'
import { judge, Unchecked, type Verdict } from '../verdict.ts'
import type { Case, Row } from './case.ts'
import { sendAllowed, write } from './good-writes.ts'

/** The request must succeed; after a write, the entry is read back. */
export function goodCase(row: Row): Case {
  return {
    name: 'good',
    needsScope: true,
    async try(probing) {
      try {
        return await good(probing, row)
      } catch (error) {
        if (error instanceof Unchecked && error.refused) probing.refused.set(row.operation, error.message)
        throw error
      }
    },
  }
}

function good(probing: Probing, row: Row): Promise<Verdict> {
  const { endpoint } = row
  if (endpoint.paged) return readList(probing, row)
  if (endpoint.method === 'GET') return readOne(probing, row)
  return write(probing, row)
}

async function readList(probing: Probing, row: Row): Promise<Verdict> {
  const answer = await sendAllowed(probing, row, {})
  const own = LIST_CHECKS[row.operation] ?? anything
  const expectation = reads(row.endpoint, together(page(DEFAULT_PAGE), own))
  return judge({ ...expectation, reference: notesOn(row.operation) }, answer)
}

const LIST_CHECKS: Readonly<Partial<Record<Operation, Check>>> = {
  listSubscriptions: (answer) =>
    itemsOf(answer).some((item) => 'subscriber' in item)
      ? [{ expected: 'no subscriber in the list', actual: 'one' }]
      : [],
  listEvents: (answer) => {
    const times = itemsOf(answer).map((item) => Date.parse(String(item['created_at'])))
    return times.some((time, index) => time > (times[index - 1] ?? Number.POSITIVE_INFINITY))
      ? [{ expected: 'the newest event first', actual: 'another order' }]
      : []
  },
}

async function readOne(probing: Probing, row: Row): Promise<Verdict> {
  const request = await baseRequest(probing, row.operation)
  const param = /\{(\w+)\}$/.exec(row.endpoint.path)?.[1] ?? ''
  const wantedIds = { directory_id: String(probing.tested.directoryId), ...request.params } as Record<
    string,
    string
  >
  const isRequested =
    param === 'external_id'
      ? showsEntry(row.operation, wantedIds[param])
      : field('id', Number(wantedIds[param]))
  const expectation = { ...reads(row.endpoint, isRequested), reference: notesOn(row.operation) }
  return judge(expectation, await sendAllowed(probing, row, request))
}
