import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { type HttpAnswer, NoAnswer } from './answer.ts'
import { totalOf } from './pages.ts'
import type { Probing } from './probing.ts'
import type { ApiRequest } from './request.ts'
import { Unchecked } from './verdict.ts'

/** As the service sent it, not validated. */
export type Item = Readonly<Record<string, unknown>>

const SEARCHED_ITEMS = 100

/** Throws `Unchecked` if the answer is not a list. */
export function itemsOf(answer: HttpAnswer): readonly Item[] {
  if (answer.status === 200 && Array.isArray(answer.json)) return answer.json as Item[]
  throw new Unchecked(`the list cannot be read: the service answered ${answer.status}`)
}

/** For a request that a case needs but does not judge. Throws `Unchecked` if no answer comes. */
async function prepare(
  probing: Probing,
  operation: Operation,
  request: () => ApiRequest,
): Promise<HttpAnswer> {
  try {
    return await probing.sendUntilAnswered(operation, request)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new Unchecked(`#${endpoints[operation].number}, which it needs, got no answer: ${error.message}`)
  }
}

/** The first 100 items of a list, read once. Throws `Unchecked` if the token may not read the list. */
export async function firstPageOf(probing: Probing, operation: Operation): Promise<readonly Item[]> {
  const known = probing.lists.get(operation)
  if (known !== undefined) return itemsOf(known)
  const answer = await prepare(probing, operation, () => ({ query: `?per_page=${SEARCHED_ITEMS}` }))
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  const items = itemsOf(answer)
  probing.lists.set(operation, answer)
  return items
}

/** Throws `Unchecked` if the answer does not contain the total. */
export async function readTotal(probing: Probing, operation: Operation): Promise<number> {
  const answer = await prepare(probing, operation, () => ({ query: '?per_page=1' }))
  const total = totalOf(answer)
  if (total !== undefined) return total
  throw new Unchecked(`the list has no total: the service answered ${answer.status}`)
}

export function lacksScope(operation: Operation, status: number): Unchecked {
  const { number, scope }: Endpoint = endpoints[operation]
  return new Unchecked(
    `the service answered ${status} to #${number}: the token seems to lack the scope ${scope}`,
    {
      refused: true,
    },
  )
}

/** The first item that `suits` and has a usable value in the field `name`; throws `Unchecked` if there is none. */
export async function first(
  probing: Probing,
  operation: Operation,
  name: string,
  suits: (item: Item) => boolean = () => true,
): Promise<Item> {
  const items = await firstPageOf(probing, operation)
  const item = items.find((each) => isUsableValue(each[name]) && suits(each))
  if (item !== undefined) return item
  throw new Unchecked(
    items.length === 0
      ? `#${endpoints[operation].number} lists nothing`
      : `#${endpoints[operation].number} lists nothing suitable`,
  )
}

function isUsableValue(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && !['', '.', '..'].includes(value))
}

/**
 * Creates a user or a group, which is deleted after the case, and returns its external id. Throws `Unchecked` if that
 * fails.
 */
export async function newEntry(probing: Probing, kind: 'user' | 'group'): Promise<string> {
  const operation = kind === 'user' ? 'createUsers' : 'createGroups'
  let id = ''
  // A request without an answer may have created its entry, so the next one uses another id.
  const answer = await prepare(probing, operation, () => entryForm(kind, (id = probing.newId())))
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  if (answer.status >= 200 && answer.status < 300) return id
  throw new Unchecked(`no ${kind} could be created: the service answered ${answer.status}`)
}

export function entryForm(kind: 'user' | 'group', id: string): ApiRequest {
  const list = kind === 'user' ? 'users' : 'groups'
  return {
    form: [
      [`${list}[][external_id]`, id],
      [`${list}[][name]`, `Check of the API, ${kind}`],
    ],
    creates: [id],
  }
}

/**
 * The external id of a new entry if writes are allowed, otherwise of the first existing one. Each case gets its own new
 * one, because a service may delete or change an entry unexpectedly.
 */
export async function entryId(probing: Probing, kind: 'user' | 'group'): Promise<string> {
  if (probing.tested.writes) return newEntry(probing, kind)
  return String(
    (await first(probing, kind === 'user' ? 'listUsers' : 'listGroups', 'external_id'))['external_id'],
  )
}

export async function emailDomain(probing: Probing): Promise<string> {
  if (probing.tested.emailDomain !== undefined) return probing.tested.emailDomain
  const user = await first(
    probing,
    'listUsers',
    'id',
    ({ email }) => typeof email === 'string' && /@./.test(email),
  )
  return String(user['email']).replace(/^.*@/, '')
}
