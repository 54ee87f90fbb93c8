import type { Operation } from '../../contract/endpoints.ts'
import { baseRequest } from '../base.ts'
import { allOf, type Check, field, type Mismatch, noCheck, reads } from '../checks.ts'
import { itemsOf } from '../fixtures.ts'
import { DEFAULT_PAGE, page } from '../pages.ts'
import type { Session } from '../session.ts'
import type { Case, Row } from './case.ts'
import { write } from './good-writes.ts'

/** The request must succeed; after a write, the entry is read back. */
export function goodCase(row: Row): Case {
  return { name: 'good', needsScope: true, try: (session) => good(session, row) }
}

function good(session: Session, row: Row): Promise<readonly Mismatch[]> {
  const { endpoint } = row
  if (endpoint.paged) return readList(session, row)
  if (endpoint.method === 'GET') return readOne(session, row)
  return write(session, row)
}

async function readList(session: Session, { operation, endpoint }: Row): Promise<readonly Mismatch[]> {
  const own = LIST_CHECKS[operation] ?? noCheck
  return reads(endpoint, allOf(page(DEFAULT_PAGE), own))(await session.sendAllowed(operation))
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

async function readOne(session: Session, { operation, endpoint }: Row): Promise<readonly Mismatch[]> {
  const request = await baseRequest(session, operation)
  const ids: Readonly<Partial<Record<string, string>>> = {
    directory_id: String(session.tested.directoryId),
    ...request.params,
  }
  const param = /\{(\w+)\}$/.exec(endpoint.path)?.[1] ?? ''
  const isRequested = param === 'external_id' ? field(param, ids[param]) : field('id', Number(ids[param]))
  return reads(endpoint, isRequested)(await session.sendAllowed(operation, request))
}
