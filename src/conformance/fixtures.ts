import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import type { ApiRequest } from './request.ts'
import type { Probing } from './probing.ts'
import { Unchecked } from './verdict.ts'

/** An item of a list or a single one, of which nothing is known: the service may differ from the description. */
export type Item = Readonly<Record<string, unknown>>

/** Items looked at when something to read is searched for. */
const SEARCHED_ITEMS = 100

/** The items of the answer to a list; throws `Unchecked` where it is none. */
export function itemsOf(answer: HttpAnswer): readonly Item[] {
  if (answer.status === 200 && Array.isArray(answer.json)) return answer.json as Item[]
  throw new Unchecked(`the list cannot be read: the service answered ${answer.status}`)
}

/** What the service has of a kind, a page at most. Throws `Unchecked` where the token may not see it. */
export function firstPageOf(probing: Probing, operation: Operation): Promise<readonly Item[]> {
  return probing.once(operation, async () => {
    const answer = await probing.send(operation, { query: `?per_page=${SEARCHED_ITEMS}` })
    if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
    return itemsOf(answer)
  })
}

/** For what the token may not do; the description does not show the scope of every endpoint. */
export function lacksScope(operation: Operation, status: number): Unchecked {
  const { number, scope }: Endpoint = endpoints[operation]
  return new Unchecked(
    `the service answered ${status} to #${number}: the token seems to lack the scope ${scope}`,
    {
      refused: true,
    },
  )
}

/** The first item that has a value under the name and suits; throws `Unchecked` with the reason otherwise. */
export async function first(
  probing: Probing,
  operation: Operation,
  name: string,
  suits: (item: Item) => boolean = () => true,
): Promise<Item> {
  const items = await firstPageOf(probing, operation)
  const item = items.find((each) => isUsableId(each[name]) && suits(each))
  if (item !== undefined) return item
  throw new Unchecked(
    items.length === 0
      ? `#${endpoints[operation].number} lists nothing`
      : `#${endpoints[operation].number} lists nothing suitable`,
  )
}

function isUsableId(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && !['', '.', '..'].includes(value))
}

/** A user of the directory that was made for this check; throws `Unchecked` where none can be made. */
async function ownEntry(probing: Probing, kind: 'user' | 'group'): Promise<string> {
  return probing.once(`own ${kind}`, () => newEntry(probing, kind))
}

/** Makes a user or a group; it is removed in the end. */
export async function newEntry(probing: Probing, kind: 'user' | 'group'): Promise<string> {
  const operation = kind === 'user' ? 'createUsers' : 'createGroups'
  const id = probing.newId()
  const answer = await probing.send(operation, entryForm(kind, id))
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  if (answer.status >= 200 && answer.status < 300) return id
  throw new Unchecked(`no ${kind} could be made: the service answered ${answer.status}`)
}

/** A form that makes one user or group. */
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

/** The id of a user or group to read: one of our own where writing is allowed, otherwise the first that is there. */
export async function entryId(probing: Probing, kind: 'user' | 'group'): Promise<string> {
  if (probing.tested.writes) return ownEntry(probing, kind)
  return String(
    (await first(probing, kind === 'user' ? 'listUsers' : 'listGroups', 'external_id'))['external_id'],
  )
}

/** The domain in which an e-mail address may be written. */
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
