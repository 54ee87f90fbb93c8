import type { Operation } from '../../contract/endpoints.ts'
import type { HttpAnswer } from '../answer.ts'
import { baseRequest, userChange } from '../base.ts'
import {
  anything,
  type Check,
  field,
  inTurn,
  type Mismatch,
  refusal,
  shape,
  success,
  together,
  tokenExpiry,
  writes,
} from '../checks.ts'
import { first, lacksScope, newEntry } from '../fixtures.ts'
import type { Probing } from '../probing.ts'
import type { ApiRequest } from '../request.ts'
import { notesOn, showsEntry, userIdsAreStrings } from '../user-ids.ts'
import { judge, type Verdict } from '../verdict.ts'
import type { Row } from './case.ts'

/** Reads back what was written. */
export function write(probing: Probing, row: Row): Promise<Verdict> {
  const send = WRITES[row.operation]
  if (send === undefined) throw new Error(`no good case for ${row.operation}`)
  return send(probing, row)
}

/** Throws `Unchecked` if the token lacks the scope. */
export async function sendAllowed(
  probing: Probing,
  { operation }: Row,
  request: ApiRequest,
): Promise<HttpAnswer> {
  const answer = await probing.send(operation, request)
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  return answer
}

const WRITES: Readonly<Partial<Record<Operation, (probing: Probing, row: Row) => Promise<Verdict>>>> = {
  createUsers: (probing, row) => createEntry(probing, row, 'getUser'),
  createGroups: (probing, row) => createEntry(probing, row, 'getGroup'),
  async updateUser(probing, row) {
    const { params = {} } = await baseRequest(probing, row.operation)
    const change = await userChange(probing)
    const written = together(...Object.entries(change).map(([name, value]) => field(name, value)))
    return writeAndRead(probing, row, {
      request: { params, form: Object.entries(change) },
      read: 'getUser',
      written,
    })
  },
  async updateGroup(probing, row) {
    const { params = {}, form = [] } = await baseRequest(probing, row.operation)
    const written = field('name', form[0]?.[1])
    return writeAndRead(probing, row, { request: { params, form }, read: 'getGroup', written })
  },
  deleteUser: (probing, row) => deleteEntry(probing, row, 'user'),
  deleteGroup: (probing, row) => deleteEntry(probing, row, 'group'),
  updateSubscription,
  async createAssertion(probing, row) {
    const answer = await sendAllowed(probing, row, await baseRequest(probing, row.operation))
    return judge(writes(row.endpoint, field('relay_state', 'check')), answer)
  },
  async readCredentials(probing, row) {
    const answer = await sendAllowed(probing, row, await baseRequest(probing, row.operation))
    // The one POST whose answer the description shows.
    const stated = inTurn(success, together(shape(row.endpoint.response!), tokenExpiry))
    return judge({ stated, reference: writes(row.endpoint).reference }, answer)
  },
  async resetPassword(probing, row) {
    const answer = await sendAllowed(probing, row, await baseRequest(probing, row.operation))
    return judge(writes(row.endpoint), answer)
  },
}

async function createEntry(probing: Probing, row: Row, read: 'getUser' | 'getGroup'): Promise<Verdict> {
  const request = await baseRequest(probing, row.operation)
  const [id] = request.creates ?? []
  const name = request.form?.find(([key]) => key.endsWith('[name]'))?.[1]
  const written = together(showsEntry(read, id), field('name', name))
  return writeAndRead(probing, row, { request, read, written, params: { external_id: id ?? '' }, list: true })
}

interface Writing {
  readonly request: ApiRequest
  /** Reads the written entry; default path parameters: those of the request. */
  readonly read: Operation
  readonly params?: ApiRequest['params']
  /** Checks the entry that is read, and, as a note only, the answer to the write. */
  readonly written: Check
  /** The answer to the write is a list of one. */
  readonly list?: boolean
}

async function writeAndRead(probing: Probing, row: Row, writing: Writing): Promise<Verdict> {
  const { request, read, params = request.params ?? {}, written, list = false } = writing
  const answer = await sendAllowed(probing, row, request)
  const inAnswer: Check = (got) => written(list ? { ...got, json: [got.json].flat()[0] } : got)
  const stated = row.operation === 'createUsers' ? userIdsAreStrings : anything
  const verdict = judge(writes(row.endpoint, together(inAnswer, notesOn(row.operation)), stated), answer)
  if (verdict.differences.length > 0) return verdict
  const shown = await probing.sendUntilAnswered(read, () => ({ params }))
  if (shown.status === 401 || shown.status === 403) return verdict
  return { ...verdict, differences: afterwards(inTurn(success, written)(shown)) }
}

async function deleteEntry(probing: Probing, row: Row, kind: 'user' | 'group'): Promise<Verdict> {
  const params = { external_id: await newEntry(probing, kind) }
  const answer = await sendAllowed(probing, row, { params })
  const verdict = judge(writes(row.endpoint), answer)
  if (verdict.differences.length > 0) return verdict
  const shown = await probing.sendUntilAnswered(kind === 'user' ? 'getUser' : 'getGroup', () => ({ params }))
  return { ...verdict, differences: afterwards(refusal(shown)) }
}

function afterwards(mismatches: readonly Mismatch[]): Mismatch[] {
  return mismatches.map(({ expected, actual }) => ({ expected: `afterwards ${expected}`, actual }))
}

/** Changes all three fields of the first subscription and restores them at the end. */
async function updateSubscription(probing: Probing, row: Row): Promise<Verdict> {
  const before = await first(probing, 'listSubscriptions', 'id')
  const params = { subscription_id: String(before['id']) }
  const { form = [] } = await baseRequest(probing, row.operation)
  const change = {
    favorite: before['favorite'] !== true,
    name: `${String(before['name'])} (check)`,
    position: Number(before['position']) + 1,
  }
  probing.addCleanup({
    operation: row.operation,
    request: { params, form },
    failure: `subscription ${params.subscription_id} could not be restored`,
  })
  const written = together(...Object.entries(change).map(([name, value]) => field(name, value)))
  const request: ApiRequest = {
    params,
    form: Object.entries(change).map(([name, value]) => [name, String(value)]),
  }
  return writeAndRead(probing, row, { request, read: 'getSubscription', written })
}
