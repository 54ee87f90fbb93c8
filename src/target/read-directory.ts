import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import { ApiError, isApiError } from '../client/api-error.ts'
import type { AccessManagementClient } from '../client/client.ts'
import { failureOfWebPage } from '../client/failure.ts'
import type { ReadOptions } from '../client/methods.ts'
import { type AllPages, type ListPage, readAllPages } from '../client/pages.ts'
import type { DirectoryGroup, DirectoryUser, Kind } from '../directory/entry.ts'
import { idProblem } from '../directory/identity.ts'
import { sortedUnique } from '../directory/normalize.ts'
import type { DirectorySnapshot, Notice } from '../directory/snapshot.ts'
import type { Membership } from '../plan/policy.ts'
import { directoryUnknown, explainApiError } from './explain.ts'

export interface ReadDirectoryOptions {
  readonly directoryId: number | string
  /** The most requests at the same time, for users and groups together. */
  readonly readConcurrency: number
  /** With `off`, members are not kept, because nothing compares them. */
  readonly membership: Membership
}

type ApiUser = Awaited<ReturnType<AccessManagementClient['listUsers']>>['items'][number]
type ApiGroup = Awaited<ReturnType<AccessManagementClient['listGroups']>>['items'][number]

/**
 * Reads the directory as a whole, or throws a `DirsyncdError`: `directory-unknown`, `directory-unreachable`,
 * `directory-unexpected`, `token-refused`, `scope-missing` or `interrupted`.
 *
 * An entry whose external id no URL path can hold gets a notice and is left out. Of two entries with the same external
 * id the first is kept, and the notice `shared-id` holds the id. It must never be deleted, because the service
 * might delete either of the two.
 */
export async function readDirectory(
  client: AccessManagementClient,
  options: ReadDirectoryOptions,
  signal: AbortSignal,
): Promise<DirectorySnapshot> {
  try {
    await requireDirectory(client, options.directoryId, { signal })
    const [users, groups] = await readLists(client, options, signal)
    return snapshotOf(users, groups, options.membership)
  } catch (error) {
    throw explainApiError(error)
  }
}

/** Throws `directory-unknown` if the directory does not exist. */
export async function requireDirectory(
  client: AccessManagementClient,
  directoryId: number | string,
  options: ReadOptions,
): Promise<void> {
  try {
    await client.getDirectory({ directory_id: directoryId }, options)
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    // A page of a proxy does not know which directories there are.
    if (error.isWebPage) throw new ApiError(error.destination, failureOfWebPage(404))
    throw directoryUnknown(client, directoryId, error)
  }
}

async function readLists(
  client: AccessManagementClient,
  { directoryId, readConcurrency: concurrency }: ReadDirectoryOptions,
  signal: AbortSignal,
): Promise<[AllPages<ApiUser>, AllPages<ApiGroup>]> {
  const failed = new AbortController()
  const both = AbortSignal.any([signal, failed.signal])
  const atOnce = pLimit(Math.max(1, concurrency))
  const params = { directory_id: directoryId }
  const listUsers: ListPage<ApiUser> = (options) => atOnce(() => client.listUsers(params, options))
  const listGroups: ListPage<ApiGroup> = (options) => atOnce(() => client.listGroups(params, options))
  const reads = [
    readAllPages(listUsers, { key: (user) => user.id, concurrency, signal: both }),
    readAllPages(listGroups, { key: groupKey, isSame: isSameGroup, concurrency, signal: both }),
  ] as const
  try {
    return await Promise.all(reads)
  } catch (error) {
    // If one list fails, stop reading the other.
    failed.abort(error)
    await Promise.allSettled(reads)
    throw error
  }
}

/** The description shows no numeric id of groups, but a service may send one. */
function groupKey(group: ApiGroup): number | string {
  return typeof group['id'] === 'number' ? group['id'] : group.external_id
}

/** Without ids of their own, only groups that are alike in everything are taken for one group that is listed twice. */
function isSameGroup(one: ApiGroup, other: ApiGroup): boolean {
  return typeof one['id'] === 'number' || isDeepStrictEqual(one, other)
}

function snapshotOf(
  users: AllPages<ApiUser>,
  groups: AllPages<ApiGroup>,
  membership: Membership,
): DirectorySnapshot {
  const notices: Notice[] = []
  const usersById = byId('user', users, userOf, notices)
  const groupsById = byId('group', groups, (id, group) => groupOf(id, group, membership), notices)
  // An entry without its id, or with that of another one, may be one that seems to be missing.
  const hidesAnId = notices.length > 0
  // Without a total, a list that ends too early looks like one that is complete.
  const isUncounted = users.total === undefined || groups.total === undefined
  return {
    users: usersById,
    groups: groupsById,
    notices,
    moved: users.moved || groups.moved || isUncounted || hidesAnId,
    unprovedEmpty: (['user', 'group'] as const).filter((kind) =>
      isUnprovedEmpty(kind === 'user' ? users : groups),
    ),
  }
}

function isUnprovedEmpty({ items, total }: AllPages<unknown>): boolean {
  return items.length === 0 && total === undefined
}

function byId<Item extends ApiUser | ApiGroup, Entry>(
  kind: Kind,
  { items, duplicates }: AllPages<Item>,
  entryOf: (id: string, item: Item) => Entry,
  notices: Notice[],
): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const shared = new Set<string>()
  const all = [...items, ...duplicates]
  for (const item of all) {
    const id = idOf(item)
    const problem = idProblem(id)
    if (problem !== undefined)
      notices.push({ kind, id: undefined, code: 'unaddressable', detail: `${label(kind, item)}: ${problem}` })
    else if (entries.has(id)) shared.add(id)
    else entries.set(id, entryOf(id, item))
  }
  const sharing = shared.size === 0 ? [] : all.filter((item) => shared.has(idOf(item)))
  for (const [id, several] of Map.groupBy(sharing, idOf)) {
    notices.push({ kind, id, code: 'shared-id', detail: sharedId(kind, id, several) })
  }
  return entries
}

function idOf(item: ApiUser | ApiGroup): string {
  return item.external_id ?? ''
}

function sharedId(kind: Kind, id: string, several: readonly (ApiUser | ApiGroup)[]): string {
  const ids = several.flatMap((item) => (typeof item['id'] === 'number' ? [item['id']] : []))
  const their = ids.length === 0 ? '' : ` (their own ids are ${ids.slice(0, 10).join(', ')})`
  return `several ${kind}s of the directory have the external id "${id}"${their}; delete all but one of them in the service`
}

function label(kind: Kind, item: ApiUser | ApiGroup): string {
  const id = typeof item['id'] === 'number' ? ` ${item['id']}` : ''
  return `the directory's ${kind}${id} "${item.name ?? ''}" cannot be addressed`
}

function userOf(id: string, user: ApiUser): DirectoryUser {
  return { id, email: user.email, name: user.name }
}

function groupOf(id: string, group: ApiGroup, membership: Membership): DirectoryGroup {
  return {
    id,
    name: group.name,
    members: membership === 'off' ? [] : sortedUnique(group.external_member_ids),
  }
}
