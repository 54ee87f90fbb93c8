import { endpoints, type Operation } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import { totalOf } from './pages.ts'
import type { ApiRequest } from './request.ts'
import { SkipCase } from './result.ts'
import type { Session } from './session.ts'

/** As the service sent it, not validated. */
export type Item = Readonly<Record<string, unknown>>

const SEARCHED_ITEMS = 100

/** Throws `SkipCase` if the answer is not a list. */
export function itemsOf(answer: HttpAnswer): readonly Item[] {
  if (answer.status === 200 && Array.isArray(answer.json)) return answer.json as Item[]
  throw new SkipCase(`the list cannot be read: the service answered ${answer.status}`)
}

/** The first 100 items of a list, read once. Throws `SkipCase` if the token may not read the list. */
async function firstPageOf(session: Session, operation: Operation): Promise<readonly Item[]> {
  const known = session.lists.get(operation)
  if (known !== undefined) return itemsOf(known)
  const answer = await session.sendAllowed(operation, { query: `?per_page=${SEARCHED_ITEMS}` })
  const items = itemsOf(answer)
  session.lists.set(operation, answer)
  return items
}

/** Throws `SkipCase` if the answer does not contain the total. */
export async function readTotal(session: Session, operation: Operation): Promise<number> {
  const answer = await session.sendAllowed(operation, { query: '?per_page=1' })
  const total = totalOf(answer)
  if (total !== undefined) return total
  throw new SkipCase(`the list has no total: the service answered ${answer.status}`)
}

/** The first item that `suits` and has a usable value in the field `name`; throws `SkipCase` if there is none. */
export async function first(
  session: Session,
  operation: Operation,
  name: string,
  suits: (item: Item) => boolean = () => true,
): Promise<Item> {
  const items = await firstPageOf(session, operation)
  const item = items.find((each) => isUsableValue(each[name]) && suits(each))
  if (item !== undefined) return item
  throw new SkipCase(
    items.length === 0
      ? `#${endpoints[operation].number} lists nothing`
      : `#${endpoints[operation].number} lists nothing suitable`,
  )
}

function isUsableValue(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && !['', '.', '..'].includes(value))
}

/**
 * Creates a user or a group, which is deleted after the case, and returns its external id. Throws `SkipCase` if that
 * fails.
 */
export async function newEntry(session: Session, kind: 'user' | 'group'): Promise<string> {
  const operation = kind === 'user' ? 'createUsers' : 'createGroups'
  const id = session.newId()
  const answer = await session.sendAllowed(operation, entryForm(kind, id))
  if (answer.status >= 200 && answer.status < 300) return id
  throw new SkipCase(`no ${kind} could be created: the service answered ${answer.status}`)
}

export function entryForm(
  kind: 'user' | 'group',
  id: string,
  name = `Check of the API, ${kind}`,
): ApiRequest {
  const list = kind === 'user' ? 'users' : 'groups'
  return {
    form: [
      [`${list}[][external_id]`, id],
      [`${list}[][name]`, name],
    ],
    creates: [id],
  }
}

/**
 * The external id of a new entry if writes are allowed, otherwise of the first existing one. Each case gets its own new
 * one, because a service may delete or change an entry unexpectedly.
 */
export async function entryId(session: Session, kind: 'user' | 'group'): Promise<string> {
  if (session.tested.writes) return newEntry(session, kind)
  return String(
    (await first(session, kind === 'user' ? 'listUsers' : 'listGroups', 'external_id'))['external_id'],
  )
}

export async function emailDomain(session: Session): Promise<string> {
  if (session.tested.emailDomain !== undefined) return session.tested.emailDomain
  const user = await first(
    session,
    'listUsers',
    'id',
    ({ email }) => typeof email === 'string' && /@./.test(email),
  )
  return String(user['email']).replace(/^.*@/, '')
}
