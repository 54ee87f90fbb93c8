import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import { ApiError, isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import { failureOfWebPage } from '../api/client/failure.ts'
import type { ReadOptions } from '../api/client/methods.ts'
import type { ExternalGroup, ExternalUser } from '../api/contract/resources.ts'
import { type AllPages, type ListPage, readAllPages } from '../api/client/pages.ts'
import type { Key } from '../api/client/listing.ts'
import { DirsyncdError } from '../base/errors.ts'
import type { DirectoryGroup, Kind } from '../core/entries/entry.ts'
import { idProblem } from '../core/entries/identity.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { Notice } from '../core/notice.ts'
import { sortedUniqueInSteps } from '../base/sorting.ts'
import { filterInSteps, forEachInSteps, forEachOfSizeInSteps, type Steps } from '../base/steps.ts'
import { UserTable } from '../core/entries/user-table.ts'
import { DirectoryUsers } from '../core/entries/users.ts'
import type { Membership } from '../core/diff/rules.ts'
import { inTurns } from '../base/turns.ts'
import { apiProblem } from './api-problem.ts'

interface ReadDirectoryOptions {
  readonly directoryId: number
  /** The most requests at the same time, for users and groups together. */
  readonly readConcurrency: number
  /** With `off`, members are not kept, because nothing compares them. */
  readonly membership: Membership
}

/**
 * Reads the whole directory, or throws a `DirsyncdError`: `directory-unknown`, `directory-unreachable`,
 * `directory-unexpected`, `token-refused`, `scope-missing` or `interrupted`.
 *
 * An entry whose external id does not fit in a URL path gets a notice and is left out. Of two entries with the same
 * external id the first is kept, and the notice `shared-id` holds the id. It must never be deleted, because the service
 * might delete either of the two.
 */
export async function readDirectory(
  client: AccessManagementClient,
  options: ReadDirectoryOptions,
  signal: AbortSignal,
  table = new UserTable(),
): Promise<DirectorySnapshot> {
  try {
    await requireDirectory(client, options.directoryId, { signal })
    const [users, groups] = await readLists(client, options, table, signal)
    return await inTurns(snapshotOf(table, users, groups, options.membership), signal)
  } catch (error) {
    throw apiProblem(error)
  }
}

/** Throws `directory-unknown` if the directory does not exist. */
export async function requireDirectory(
  client: AccessManagementClient,
  directoryId: number,
  options: ReadOptions,
): Promise<void> {
  try {
    await client.getDirectory({ directory_id: directoryId }, options)
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
    // A proxy's page does not show whether the directory exists.
    if (error.isWebPage) throw new ApiError(error.destination, failureOfWebPage(404))
    throw new DirsyncdError(
      'directory-unknown',
      `Directory ${directoryId} does not exist in organization ${client.organizationId} at ${client.baseUrl}: ` +
        'check directoryId, organizationId and baseUrl.',
      { cause: error },
    )
  }
}

async function readLists(
  client: AccessManagementClient,
  { directoryId, readConcurrency: concurrency }: ReadDirectoryOptions,
  table: UserTable,
  signal: AbortSignal,
): Promise<[AllPages<KeptUser>, AllPages<ExternalGroup>]> {
  const failed = new AbortController()
  const both = AbortSignal.any([signal, failed.signal])
  const atOnce = pLimit(Math.max(1, concurrency))
  const params = { directory_id: directoryId }
  const listUsers: ListPage<ExternalUser> = (options) => atOnce(() => client.listUsers(params, options))
  const listGroups: ListPage<ExternalGroup> = (options) => atOnce(() => client.listGroups(params, options))
  const reads = [
    readAllPages(listUsers, {
      key: (user) => user.id,
      keep: (user) => keptUser(table, user),
      concurrency,
      signal: both,
    }),
    readAllPages(listGroups, { key: groupKey, isSame: isSameGroup, concurrency, signal: both }),
  ] as const
  try {
    return await Promise.all(reads)
  } catch (error) {
    failed.abort(error)
    await Promise.allSettled(reads)
    throw error
  }
}

/** The API description shows no numeric id of groups, but a service may send one. */
function groupKey(group: ExternalGroup): number | string {
  return typeof group['id'] === 'number' ? group['id'] : group.external_id
}

/** Without ids, only groups that are equal in everything count as one group that is listed twice. */
function isSameGroup(one: ExternalGroup, other: ExternalGroup): boolean {
  return typeof one['id'] === 'number' || isDeepStrictEqual(one, other)
}

/** The row of the table; the user itself where its external id does not fit in a URL path. */
type KeptUser = number | ExternalUser

function keptUser(table: UserTable, user: ExternalUser): KeptUser {
  const id = idOf(user)
  if (idProblem(id) !== undefined) return user
  return table.rowOf(id, user.email ?? undefined, user.name ?? undefined)
}

function* snapshotOf(
  table: UserTable,
  users: AllPages<KeptUser>,
  groups: AllPages<ExternalGroup>,
  membership: Membership,
): Steps<DirectorySnapshot> {
  const notices: Notice[] = []
  const usersById = yield* usersOf(table, users, notices)
  const groupsById = yield* groupsOf(groups, membership, notices)
  // An entry without its id, or with another id, may be one that seems to be missing.
  const hidesAnId = notices.length > 0
  // Without a total, a truncated list looks complete.
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

function* usersOf(
  table: UserTable,
  { items, keys }: AllPages<KeptUser>,
  notices: Notice[],
): Steps<DirectoryUsers> {
  const users = new DirectoryUsers(table)
  const shared = new Set<string>()
  yield* forEachInSteps(items, (user) => {
    if (typeof user !== 'number') notices.push(unaddressable('user', user))
    else if (!users.add(user)) shared.add(table.idOf(user))
  })
  if (shared.size === 0) return users
  const ownIds = new Map<string, Key[]>([...shared].map((id) => [id, []]))
  yield* forEachInSteps(items.entries(), ([index, user]) => {
    if (typeof user === 'number') ownIds.get(table.idOf(user))?.push(keys[index]!)
  })
  for (const [id, several] of ownIds) notices.push(sharedId('user', id, several))
  return users
}

function* groupsOf(
  { items, duplicates }: AllPages<ExternalGroup>,
  membership: Membership,
  notices: Notice[],
): Steps<Map<string, DirectoryGroup>> {
  const groups = new Map<string, DirectoryGroup>()
  const shared = new Set<string>()
  const all = [...items, ...duplicates]
  yield* forEachOfSizeInSteps(all, sizeOf, function* (group) {
    const id = idOf(group)
    if (idProblem(id) !== undefined) notices.push(unaddressable('group', group))
    else if (groups.has(id)) shared.add(id)
    else groups.set(id, yield* groupOf(id, group, membership))
  })
  const sharing = yield* filterInSteps(shared.size === 0 ? [] : all, (group) => shared.has(idOf(group)))
  for (const [id, several] of Map.groupBy(sharing, idOf)) {
    const ownIds = several.map((group) => group['id'])
    notices.push(sharedId('group', id, ownIds))
  }
  return groups
}

function idOf(item: ExternalUser | ExternalGroup): string {
  return item.external_id ?? ''
}

function unaddressable(kind: Kind, item: ExternalUser | ExternalGroup): Notice {
  const ownId = typeof item['id'] === 'number' ? item['id'] : null
  const params = { ownId, name: item.name ?? '', fault: idProblem(idOf(item)) ?? '' }
  return { kind, id: undefined, code: 'unaddressable', params }
}

/** @param ownIds the service's own ids of the entries, where they are numbers */
function sharedId(kind: Kind, id: string, ownIds: readonly unknown[]): Notice {
  const ids = ownIds.filter((own) => typeof own === 'number').slice(0, 10)
  return { kind, id, code: 'shared-id', params: { ownIds: ids } }
}

function sizeOf({ external_member_ids: members }: ExternalGroup): number {
  return members.length
}

function* groupOf(id: string, group: ExternalGroup, membership: Membership): Steps<DirectoryGroup> {
  const members = membership === 'off' ? [] : yield* sortedUniqueInSteps(group.external_member_ids)
  return { id, name: group.name, members }
}
