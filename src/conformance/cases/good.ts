import type { Operation } from '../../contract/endpoints.ts'
import type { HttpAnswer } from '../answer.ts'
import { baseRequest, userChange } from '../base.ts'
import {
  anything,
  type Check,
  field,
  inTurn,
  reads,
  refusal,
  shape,
  success,
  together,
  tokenExpiry,
  writes,
} from '../checks.ts'
import { DEFAULT_PAGE, page } from '../pages.ts'
import type { ApiRequest } from '../request.ts'
import type { Probing } from '../probing.ts'
import { first, itemsOf, lacksScope, newEntry } from '../fixtures.ts'
import { judge, Unchecked, type Verdict } from '../verdict.ts'
import type { Case, Row } from './case.ts'

/** The request that must succeed; after a write, the entry is read back. */
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
  const { endpoint, operation } = row
  if (endpoint.paged) return readList(probing, row)
  if (endpoint.method === 'GET') return readOne(probing, row)
  const write = WRITES[operation]
  if (write === undefined) throw new Error(`no good case for ${operation}`)
  return write(probing, row)
}

/** Sends the request; throws `Unchecked` if the token lacks the scope. */
async function sendAllowed(probing: Probing, { operation }: Row, request: ApiRequest): Promise<HttpAnswer> {
  const answer = await probing.send(operation, request)
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  return answer
}

async function readList(probing: Probing, row: Row): Promise<Verdict> {
  const answer = await sendAllowed(probing, row, {})
  const own = LIST_CHECKS[row.operation] ?? anything
  return judge(reads(row.endpoint, together(page(DEFAULT_PAGE), own)), answer)
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

/** The answer must be the requested entry. */
async function readOne(probing: Probing, row: Row): Promise<Verdict> {
  const request = await baseRequest(probing, row.operation)
  const param = /\{(\w+)\}$/.exec(row.endpoint.path)?.[1] ?? ''
  const wantedIds = { directory_id: String(probing.tested.directoryId), ...request.params } as Record<
    string,
    string
  >
  const isRequested =
    param === 'external_id' ? field(param, wantedIds[param]) : field('id', Number(wantedIds[param]))
  return judge(reads(row.endpoint, isRequested), await sendAllowed(probing, row, request))
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
  const written = together(field('external_id', id), field('name', name))
  return writeAndRead(probing, row, { request, read, written, params: { external_id: id ?? '' }, list: true })
}

interface Writing {
  readonly request: ApiRequest
  /** The operation that reads the written entry, and its path parameters; default those of the request. */
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
  const verdict = judge(writes(row.endpoint, inAnswer), answer)
  if (verdict.differences.length > 0) return verdict
  const shown = await probing.sendUntilAnswered(read, () => ({ params }))
  if (shown.status === 401 || shown.status === 403) return verdict
  const mismatches = inTurn(success, written)(shown)
  const differences = mismatches.map(({ expected, actual }) => ({
    expected: `afterwards ${expected}`,
    actual,
  }))
  return { ...verdict, differences }
}

async function deleteEntry(probing: Probing, row: Row, kind: 'user' | 'group'): Promise<Verdict> {
  const params = { external_id: await newEntry(probing, kind) }
  const answer = await sendAllowed(probing, row, { params })
  const verdict = judge(writes(row.endpoint), answer)
  if (verdict.differences.length > 0) return verdict
  const shown = await probing.sendUntilAnswered(kind === 'user' ? 'getUser' : 'getGroup', () => ({ params }))
  const differences = refusal(shown).map(({ expected, actual }) => ({
    expected: `afterwards ${expected}`,
    actual,
  }))
  return { ...verdict, differences }
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
  const request: ApiRequest = {
    params,
    form: Object.entries(change).map(([name, value]) => [name, String(value)]),
  }
  const written = together(...Object.entries(change).map(([name, value]) => field(name, value)))
  return writeAndRead(probing, row, { request, read: 'getSubscription', written })
}
