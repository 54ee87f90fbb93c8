import { ApiError, isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import { failureOfWebPage } from '../api/client/failure.ts'
import type { ReadOptions, WriteOptions, Written } from '../api/client/methods.ts'
import type { ExternalGroup, ExternalUser } from '../api/contract/resources.ts'
import type { Create } from '../core/plan/batches.ts'
import type { ChangeOf } from '../core/plan/change.ts'
import type { Shown, VerifiedChange } from '../core/plan/verification.ts'
import type { Kind } from '../core/entries/entry.ts'
import { canonicalName, isSameEmail, sortedUnique } from '../core/entries/normalize.ts'

/** Where to send requests, and how. A worker throws a 429 also of a lookup: it frees its slot instead of waiting. */
export interface RequestContext extends ReadOptions {
  readonly client: AccessManagementClient
  readonly directoryId: number
  readonly signal: AbortSignal
}

function shownUser({ external_id: id, email, name }: ExternalUser): Shown {
  return { id, email, name, members: [] }
}

function shownGroup({ external_id: id, name, external_member_ids: members }: ExternalGroup): Shown {
  return { id, email: null, name, members }
}

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

/** An answer may show no id. */
export function isEntryOf(id: string, { id: shown }: Shown): boolean {
  return shown === undefined || shown === null || shown === id
}

/** Throws `OtherEntry` where the entry has another id. */
export function requireEntryOf(id: string, found: Shown): Shown {
  if (!isEntryOf(id, found)) throw new OtherEntry(id, found.id ?? '')
  return found
}

/** `undefined` on a 404; the entry may have another id. */
export async function find(context: RequestContext, kind: Kind, id: string): Promise<Shown | undefined> {
  const { client, signal, onRequest, whenLimited } = context
  const params = paramsOf(context, id)
  const options = { signal, onRequest, whenLimited }
  try {
    if (kind === 'user') return shownUser(await client.getUser(params, options))
    return shownGroup(await client.getGroup(params, options))
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    // A proxy's page does not show whether the entry exists.
    if (error.isWebPage) throw new ApiError(error.destination, failureOfWebPage(404))
    return undefined
  }
}

function paramsOf({ directoryId }: RequestContext, id: string) {
  return { directory_id: directoryId, external_id: id }
}

/** The wanted fields that differ from the user's, compared on canonical values. */
function missingFields(user: Shown, want: ChangeOf<'update-user'>['want']): ChangeOf<'update-user'>['want'] {
  const email = want.email !== undefined && !isSameEmail(want.email, user.email)
  const name = want.name !== undefined && canonicalName(want.name) !== canonicalName(user.name ?? '')
  return { ...(email && { email: want.email }), ...(name && { name: want.name }) }
}

/** Whether the service shows what the change wants. */
export function isDone(change: VerifiedChange, shown: Shown): boolean {
  switch (change.op) {
    case 'create-user':
    case 'update-user':
      return Object.keys(missingFields(shown, change.want)).length === 0
    case 'create-group':
    case 'update-group':
      return canonicalName(shown.name ?? '') === canonicalName(change.want.name)
    case 'set-members': {
      const have = sortedUnique(shown.members)
      const want = sortedUnique(change.want)
      return have.length === want.length && have.every((id, index) => id === want[index])
    }
  }
}

/** Sent once: after a lost answer, the service may have created any of the entries, or may still do so. */
export async function sendCreates(
  { client, directoryId, signal, onRequest }: RequestContext,
  changes: readonly Create[],
): Promise<{ readonly status: number | undefined; readonly shown: readonly Shown[] }> {
  const params = { directory_id: directoryId }
  const options = { signal, onRequest }
  if (changes[0]?.op === 'create-group') {
    const forms = (changes as readonly ChangeOf<'create-group'>[]).map(groupForm)
    const { status, value = [] } = await client.createGroups(params, forms, options)
    return { status, shown: value.map(shownGroup) }
  }
  const forms = (changes as readonly ChangeOf<'create-user'>[]).map(userForm)
  const { status, value = [] } = await client.createUsers(params, forms, options)
  return { status, shown: value.map(shownUser) }
}

function userForm({ id, want: { email, name, employeeId } }: ChangeOf<'create-user'>) {
  return {
    external_id: id,
    ...(email !== undefined && { email }),
    ...(name !== undefined && { name }),
    ...(employeeId !== undefined && { employee_id: employeeId }),
  }
}

function groupForm({ id, want }: ChangeOf<'create-group'>) {
  return { external_id: id, name: want.name }
}

type Confirm<Found> = WriteOptions<Found>['confirm']

/** Sends the values of a change to an entry that exists, without those that `found` has already. */
export function sendValues(
  context: RequestContext,
  change: VerifiedChange,
  found: Shown | undefined,
  confirm: Confirm<Shown>,
): Promise<Written<unknown, Shown>> {
  const { client, signal, onRequest } = context
  const params = paramsOf(context, change.id)
  const options = { signal, onRequest, confirm }
  switch (change.op) {
    case 'create-user':
    case 'update-user': {
      const fields = found === undefined ? change.want : missingFields(found, change.want)
      return client.updateUser(params, fields, options)
    }
    case 'create-group':
    case 'update-group':
      return client.updateGroup(params, change.want, options)
    case 'set-members': {
      const { name, want } = change
      return client.updateGroup(params, { name, external_member_ids: [...want] }, options)
    }
  }
}

export function sendDelete(
  context: RequestContext,
  kind: Kind,
  id: string,
  confirm: Confirm<true>,
): Promise<Written<unknown, true>> {
  const { client, signal, onRequest } = context
  const params = paramsOf(context, id)
  const options = { signal, onRequest, confirm }
  return kind === 'user' ? client.deleteUser(params, options) : client.deleteGroup(params, options)
}
