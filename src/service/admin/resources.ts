import { MAX_ID } from '../../api/contract/values.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { flagsOf } from '../resources/flags.ts'
import type { Resource } from '../resources/resource.ts'
import { type ResourceName, resources } from '../resources/resources.ts'
import {
  mayBeEmpty,
  parseItems,
  parseValue,
  type Patch,
  requireResource,
  withReferences,
  writeChange,
} from '../resources/write.ts'
import { countContents, type Removal } from '../store/contents.ts'
import type { Database } from '../store/database.ts'
import {
  deleteResource,
  insertResources,
  nextId,
  selectResources,
  type StoredResource,
} from '../store/resources.ts'
import type { AdminDeps } from './deps.ts'
import { inTurn } from './in-turn.ts'

/** The fields of a resource, and its owner's id as `organization` or `contact`. Never credentials. */
export type ResourceView = Readonly<Record<string, unknown>> & { readonly id: number }

export async function createResource(
  deps: AdminDeps,
  { resource, ownerId, values }: { resource: ResourceName; ownerId?: number | undefined; values: Patch },
): Promise<ResourceView> {
  const context = await deps.writeContext()
  return inTurn(deps, async (trx) => {
    await requireOwner(trx, resource, ownerId)
    const id = await nextId(trx, resource)
    if (id === undefined) throw noIdLeft(resource)
    const value = parseValue(resource, { ...values, id })
    const complete = await withReferences(trx, resource, ownerId, value)
    await insertResources(trx, resource, ownerId, [complete], context)
    return viewOf(resource, await requireResource(trx, resource, complete.id))
  })
}

export async function listResources(
  { db }: AdminDeps,
  { resource, ownerId }: { resource: ResourceName; ownerId?: number | undefined },
): Promise<readonly ResourceView[]> {
  if (ownerId !== undefined) await requireOwner(db, resource, ownerId)
  return (await selectResources(db, resource, { ownerId })).map((each) => viewOf(resource, each))
}

export interface ResourceChange {
  readonly resource: ResourceName
  readonly id: number
  readonly values: Patch
  /** Items to add to lists and to remove from them, by field. */
  readonly add: Readonly<Record<string, readonly (string | number)[]>>
  readonly remove: Readonly<Record<string, readonly (string | number)[]>>
}

/** `changed` is false if the resource was like that already. */
export async function changeResource(
  deps: AdminDeps,
  change: ResourceChange,
): Promise<ResourceView & { readonly changed: boolean }> {
  const { resource, id, values, add, remove } = change
  const context = await deps.writeContext()
  return inTurn(deps, async (trx) => {
    const before = await requireResource(trx, resource, id, { locked: true })
    const lists = Object.fromEntries(
      [...new Set([...Object.keys(add), ...Object.keys(remove)])].map((field) => {
        return [
          field,
          changedList(resource, before, { field, add: add[field] ?? [], remove: remove[field] ?? [] }),
        ]
      }),
    )
    const changed = await writeChange(trx, resource, before, { ...values, ...lists }, context)
    return { ...viewOf(resource, await requireResource(trx, resource, id)), changed }
  })
}

/**
 * Also removes what belongs to it, if `withContents` allows that. `with` names the contents and the number of groups
 * that lose a member: `1 token, a place in 2 groups`.
 */
export async function removeResource(
  deps: AdminDeps,
  { resource, id, withContents }: { resource: ResourceName; id: number; withContents: boolean },
): Promise<ResourceView & { readonly with: string }> {
  return inTurn(deps, async (trx) => {
    // Requests to the API lock a directory or a subscription first and then its organization.
    const found = await requireResource(trx, resource, id, { locked: resource !== 'organization' })
    const removal = await countContents(trx, resource, [id])
    if (removal.contents.size > 0 && !withContents) throw notEmpty(resource, id, removal)
    await deleteResource(trx, resource, id)
    return { ...viewOf(resource, found), with: listOf(removal) }
  })
}

function noIdLeft(resource: ResourceName): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `No id is left for another ${resource}, because ${MAX_ID} is taken; create it with \`access-service import\` and an id of its own.`,
  )
}

function notEmpty(resource: ResourceName, id: number, removal: Removal): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `The ${resource} ${id} has ${listOf(removal)}; nothing is removed. Give --with-contents to remove all of it.`,
  )
}

/** `1 contact, 2 directories`. */
function listOf({ contents, groups }: Removal): string {
  const nouns = [...contents].map(([noun, count]) => {
    return `${count} ${count === 1 ? noun : noun === 'directory' ? 'directories' : `${noun}s`}`
  })
  const places = groups === 0 ? [] : [`a place in ${groups} ${groups === 1 ? 'group' : 'groups'}`]
  return [...nouns, ...places].join(', ')
}

/** Throws `id-unknown`. */
async function requireOwner(
  db: Database,
  resource: ResourceName,
  ownerId: number | undefined,
): Promise<void> {
  const { owner }: Resource = resources[resource]
  if (owner === undefined) return
  if (ownerId === undefined) throw new DirsyncdError('usage', `The ${owner} is missing.`)
  await requireResource(db, owner, ownerId)
}

/** Items are compared as they are stored. Throws `usage` for an item to remove that is missing. */
function changedList(
  resource: ResourceName,
  { fields }: StoredResource,
  change: { readonly field: string; readonly add: readonly unknown[]; readonly remove: readonly unknown[] },
): unknown[] {
  const { field, remove } = change
  const before = (fields[field] ?? []) as unknown[]
  const [add, gone] = [
    parseItems(resource, field, 'add', change.add),
    parseItems(resource, field, 'remove', remove),
  ]
  const what = flagsOf(resources[resource]).find(({ path }) => path[0] === field)?.name ?? field
  const missing = gone.findIndex((each) => !before.includes(each))
  if (missing >= 0) {
    throw new DirsyncdError(
      'usage',
      `There is no ${what} ${String(remove[missing])} to remove; nothing is changed.`,
    )
  }
  const after = [...before.filter((each) => !gone.includes(each)), ...add]
  if (after.length > 0 || gone.length === 0 || mayBeEmpty(resource, field)) return after
  throw new DirsyncdError(
    'usage',
    `--remove-${what} must leave at least one; add another one with --add-${what}.`,
  )
}

function viewOf(resource: ResourceName, { id, ownerId, fields }: StoredResource): ResourceView {
  const { owner }: Resource = resources[resource]
  const { id: _, ...others } = fields
  return { id, ...(owner !== undefined && { [owner]: ownerId }), ...others }
}
