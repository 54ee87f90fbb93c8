import type { Operation } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import { anything, type Check, field } from './checks.ts'

const SHOW_USERS: ReadonlySet<Operation> = new Set(['listUsers', 'createUsers', 'getUser'])

/** For clients, besides the notes on the status and the body. */
export function notesOn(operation: Operation): Check {
  return SHOW_USERS.has(operation) ? usersWithoutId : anything
}

/**
 * The description shows a user's external_id as a string, but #4 lets a client leave it out. A user without one is a
 * note and no difference.
 */
const usersWithoutId: Check = (answer) => {
  const ids = idsIn(answer)
  const without = ids.filter(isMissing).length
  if (without === 0) return []
  const actual = `none for ${without} of ${ids.length}, and no endpoint can remove a user without one`
  return [{ expected: 'an external_id for each user', actual }]
}

/** Each external_id in the answer is a string, or missing. */
export const userIdsAreStrings: Check = (answer) => {
  const wrong = idsIn(answer).find((id) => !isMissing(id) && typeof id !== 'string')
  return wrong === undefined ? [] : [{ expected: 'a string as external_id', actual: JSON.stringify(wrong) }]
}

/** The answer to `read` is the entry with this external_id; a user may show none. */
export function showsEntry(read: Operation, id: string | undefined): Check {
  const isEntry = field('external_id', id)
  return (answer) => (SHOW_USERS.has(read) && idsIn(answer).every(isMissing) ? [] : isEntry(answer))
}

function idsIn({ json }: Pick<HttpAnswer, 'json'>): unknown[] {
  return [json]
    .flat()
    .filter((user) => typeof user === 'object' && user !== null)
    .map((user) => (user as { external_id?: unknown }).external_id)
}

function isMissing(id: unknown): boolean {
  return id === undefined || id === null
}
