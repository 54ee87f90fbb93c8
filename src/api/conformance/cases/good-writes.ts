import { type Endpoint, endpoints, type Operation } from '../../contract/endpoints.ts'
import { baseRequest, userChange } from '../base.ts'
import {
  type Check,
  fields,
  firstFailing,
  type Mismatch,
  refusal,
  shape,
  success,
  writes,
} from '../checks.ts'
import { entryForm, first, newEntry } from '../fixtures.ts'
import type { ApiRequest } from '../request.ts'
import type { Session } from '../session.ts'
import type { Row } from './case.ts'

/** Reads back what was written. */
export async function write(session: Session, { operation }: Row): Promise<readonly Mismatch[]> {
  const special = SPECIAL_WRITES[operation]
  if (special !== undefined) return special(session)
  const { response }: Endpoint = endpoints[operation]
  const body = operation === 'readCredentials' && response !== undefined ? shape(response) : undefined
  return writes(body)(await session.sendAllowed(operation, await baseRequest(session, operation)))
}

const SPECIAL_WRITES: Readonly<
  Partial<Record<Operation, (session: Session) => Promise<readonly Mismatch[]>>>
> = {
  createUsers: (session) => createEntry(session, 'user'),
  createGroups: (session) => createEntry(session, 'group'),
  async updateUser(session) {
    const { params = {} } = await baseRequest(session, 'updateUser')
    return update(session, {
      operation: 'updateUser',
      read: 'getUser',
      params,
      change: await userChange(session),
    })
  },
  async updateGroup(session) {
    const { params = {}, form = [] } = await baseRequest(session, 'updateGroup')
    const change = Object.fromEntries(form)
    return update(session, { operation: 'updateGroup', read: 'getGroup', params, change })
  },
  deleteUser: (session) => deleteEntry(session, 'user'),
  deleteGroup: (session) => deleteEntry(session, 'group'),
  updateSubscription,
}

async function createEntry(session: Session, kind: 'user' | 'group'): Promise<readonly Mismatch[]> {
  const id = session.newId()
  const name = `Check of the API, ${kind}`
  const operation = kind === 'user' ? 'createUsers' : 'createGroups'
  const mismatches = writes()(await session.sendAllowed(operation, entryForm(kind, id, name)))
  if (mismatches.length > 0) return mismatches
  const isWritten = fields({ external_id: id, name })
  return readBack(session, READS[kind], { external_id: id }, firstFailing(success, isWritten))
}

const READS = { user: 'getUser', group: 'getGroup' } as const

interface Update {
  readonly operation: Operation
  readonly read: Operation
  readonly params: NonNullable<ApiRequest['params']>
  readonly change: Readonly<Record<string, string | number | boolean>>
}

async function update(
  session: Session,
  { operation, read, params, change }: Update,
): Promise<readonly Mismatch[]> {
  const form = Object.entries(change).map(([name, value]) => [name, String(value)] as const)
  const mismatches = writes()(await session.sendAllowed(operation, { params, form }))
  if (mismatches.length > 0) return mismatches
  return readBack(session, read, params, firstFailing(success, fields(change)))
}

async function deleteEntry(session: Session, kind: 'user' | 'group'): Promise<readonly Mismatch[]> {
  const params = { external_id: await newEntry(session, kind) }
  const operation = kind === 'user' ? 'deleteUser' : 'deleteGroup'
  const mismatches = writes()(await session.sendAllowed(operation, { params }))
  return mismatches.length > 0 ? mismatches : readBack(session, READS[kind], params, refusal)
}

/** No mismatch if the token may not read. */
async function readBack(
  session: Session,
  operation: Operation,
  params: NonNullable<ApiRequest['params']>,
  check: Check,
): Promise<readonly Mismatch[]> {
  const answer = await session.send(operation, { params })
  if (answer.status === 401 || answer.status === 403) return []
  return check(answer).map(({ expected, actual }) => ({ expected: `afterwards ${expected}`, actual }))
}

/** Changes all three fields of the first subscription and restores them at the end. */
async function updateSubscription(session: Session): Promise<readonly Mismatch[]> {
  const before = await first(session, 'listSubscriptions', 'id')
  const { params = {}, form = [] } = await baseRequest(session, 'updateSubscription')
  session.addCleanup({
    operation: 'updateSubscription',
    request: { params, form },
    failure: `subscription ${params.subscription_id} could not be restored`,
  })
  const change = {
    favorite: before['favorite'] !== true,
    name: `${String(before['name'])} (check)`,
    position: Number(before['position']) + 1,
  }
  return update(session, { operation: 'updateSubscription', read: 'getSubscription', params, change })
}
