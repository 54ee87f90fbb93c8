import { ApiError, isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import { failureOfWebPage } from '../api/client/failure.ts'
import type { WriteOptions, Written } from '../api/client/methods.ts'
import type { Shown } from '../core/plan/verification.ts'
import { canonicalName, isSameEmail, sortedUnique } from '../core/entries/normalize.ts'

/** `onRequest` counts the requests. */
export interface RequestContext {
  readonly client: AccessManagementClient
  readonly directoryId: number
  readonly signal: AbortSignal
  readonly onRequest: () => void
}

export type User = Awaited<ReturnType<AccessManagementClient['getUser']>>
export type Group = Awaited<ReturnType<AccessManagementClient['getGroup']>>

export function shownUser({ external_id: id, email, name }: User): Shown {
  return { id, email, name, members: [] }
}

export function shownGroup({ external_id: id, name, external_member_ids: members }: Group): Shown {
  return { id, email: null, name, members }
}

export type Confirm<Found> = NonNullable<WriteOptions<Found>['confirm']>
export type Send<Found> = (confirm: Confirm<Found>) => Promise<Written<unknown, Found>>

/** The service shows an entry with another id, because it takes the two ids for one. That entry must not be changed. */
export class OtherEntry extends Error {
  override readonly name = 'OtherEntry'

  constructor(id: string, shown: string) {
    super(
      `The service shows the entry "${shown}" where it is asked for "${id}", so it takes the two ids for one ` +
        '(perhaps it ignores upper and lower case); that entry was left as it is. Give one of the two another id, or put ' +
        `"${id}" on the list entries.users.exclude or entries.groups.exclude of the sync.`,
    )
  }
}

export interface Identified {
  readonly external_id?: string | null | undefined
}

/** An answer may show no id. */
export function isEntryOf(id: string, { external_id: shown }: Identified): boolean {
  return shown === undefined || shown === null || shown === id
}

/** Throws `OtherEntry` where the entry has another id. */
export function requireEntryOf<Found extends Identified>(id: string, found: Found): Found {
  if (!isEntryOf(id, found)) throw new OtherEntry(id, found.external_id ?? '')
  return found
}

/** `undefined` on a 404; the user may have another id. Throws a 429: a worker frees its slot instead of waiting. */
export async function findUser(context: RequestContext, id: string): Promise<User | undefined> {
  return orMissing(context.client.getUser(paramsOf(context, id), lookupOptions(context)))
}

export async function findGroup(context: RequestContext, id: string): Promise<Group | undefined> {
  return orMissing(context.client.getGroup(paramsOf(context, id), lookupOptions(context)))
}

export async function orMissing<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    // A proxy's page does not show whether the entry exists.
    if (error.isWebPage) throw new ApiError(error.destination, failureOfWebPage(404))
    return undefined
  }
}

export function paramsOf(context: RequestContext, id: string): { directory_id: number; external_id: string } {
  return { directory_id: context.directoryId, external_id: id }
}

function lookupOptions({ signal, onRequest }: RequestContext): {
  signal: AbortSignal
  onRequest: () => void
  whenLimited: 'throw'
} {
  return { signal, onRequest, whenLimited: 'throw' }
}

export function writeOptions<Found>(
  { signal, onRequest }: RequestContext,
  confirm: Confirm<Found>,
): WriteOptions<Found> {
  return { signal, onRequest, confirm }
}

interface UserFields {
  readonly email?: string
  readonly name?: string
}

/** The wanted fields that differ from the user's, compared on canonical values. */
export function missingFields(user: User, want: UserFields): UserFields {
  const email = want.email !== undefined && !isSameEmail(want.email, user.email)
  const name = want.name !== undefined && canonicalName(want.name) !== canonicalName(user.name ?? '')
  return { ...(email && { email: want.email }), ...(name && { name: want.name }) }
}

export function hasValues(user: User, want: UserFields): boolean {
  const { email, name } = missingFields(user, want)
  return email === undefined && name === undefined
}

export function hasName(group: Group, name: string): boolean {
  return canonicalName(group.name) === canonicalName(name)
}

export function hasMembers(group: Group, members: readonly string[]): boolean {
  const have = sortedUnique(group.external_member_ids)
  const want = sortedUnique(members)
  return have.length === want.length && have.every((id, index) => id === want[index])
}

export function sendUser(context: RequestContext, id: string, fields: UserFields): Send<User> {
  return (confirm) => context.client.updateUser(paramsOf(context, id), fields, writeOptions(context, confirm))
}

export function sendGroup(
  context: RequestContext,
  id: string,
  fields: { readonly name: string; readonly external_member_ids?: string[] },
): Send<Group> {
  return (confirm) =>
    context.client.updateGroup(paramsOf(context, id), fields, writeOptions(context, confirm))
}
