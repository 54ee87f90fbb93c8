import { sql } from 'kysely'
import { DirsyncdError } from '../../errors.ts'
import type { Resource } from '../resources/resource.ts'
import { type ResourceName, resources } from '../resources/resources.ts'
import { parseValue, type Patch, requireResource, withReferences, writeChange } from '../resources/write.ts'
import { SCHEMA, type Trx } from '../store/database.ts'
import {
  countContents,
  deleteResource,
  insertResources,
  lockResources,
  selectResources,
  STORAGE,
  type StoredResource,
} from '../store/resources.ts'
import type { AdminDeps } from './deps.ts'

/** The fields of a resource, and `organization` or `contact`: the id of what it belongs to. Never credentials. */
export type ResourceView = Readonly<Record<string, unknown>> & { readonly id: number }

export async function createResource(
  deps: AdminDeps,
  { resource, ownerId, values }: { resource: ResourceName; ownerId?: number | undefined; values: Patch },
): Promise<ResourceView> {
  const context = deps.writeContext()
  return inTurn(deps, async (trx) => {
    await requireOwner(trx, resource, ownerId)
    const value = parseValue(resource, { ...values, id: await nextId(trx, resource) })
    const complete = await withReferences(trx, resource, ownerId, value)
    await insertResources(trx, resource, ownerId, [complete], context)
    return viewOf(resource, await requireResource(trx, resource, complete.id))
  })
}

export async function listResources(
  { db }: AdminDeps,
  { resource, ownerId }: { resource: ResourceName; ownerId?: number | undefined },
): Promise<readonly ResourceView[]> {
  return (await selectResources(db, resource, { ownerId })).map((each) => viewOf(resource, each))
}

export interface ResourceChange {
  readonly resource: ResourceName
  readonly id: number
  readonly values: Patch
  /** What comes into a list, and what goes out of it, by the field. */
  readonly add: Readonly<Record<string, readonly (string | number)[]>>
  readonly remove: Readonly<Record<string, readonly (string | number)[]>>
}

export async function changeResource(deps: AdminDeps, change: ResourceChange): Promise<ResourceView> {
  const { resource, id, values, add, remove } = change
  const context = deps.writeContext()
  return inTurn(deps, async (trx) => {
    const before = await requireResource(trx, resource, id)
    const lists = Object.fromEntries(
      [...new Set([...Object.keys(add), ...Object.keys(remove)])].map((field) => {
        return [field, changedList(before.fields[field], add[field] ?? [], remove[field] ?? [])]
      }),
    )
    await writeChange(trx, resource, before, { ...values, ...lists }, context)
    return viewOf(resource, await requireResource(trx, resource, id))
  })
}

/** Also removes what belongs to it, which `withContents` must allow. */
export async function removeResource(
  deps: AdminDeps,
  { resource, id, withContents }: { resource: ResourceName; id: number; withContents: boolean },
): Promise<ResourceView> {
  return inTurn(deps, async (trx) => {
    const found = await requireResource(trx, resource, id)
    const contents = await countContents(trx, resource, id)
    if (contents.length > 0 && !withContents) throw notEmpty(resource, id, contents)
    await deleteResource(trx, resource, id)
    return viewOf(resource, found)
  })
}

function notEmpty(
  resource: ResourceName,
  id: number,
  contents: readonly { readonly what: string; readonly count: number }[],
): DirsyncdError {
  const what = contents.map(({ what: noun, count }) => `${count} ${count === 1 ? noun : pluralOf(noun)}`)
  return new DirsyncdError(
    'usage',
    `The ${resource} ${id} has ${what.join(', ')}; nothing is removed. Give --with-contents to remove all of it.`,
  )
}

function pluralOf(noun: string): string {
  return noun === 'directory' ? 'directories' : `${noun}s`
}

/** Runs the work of one command at a time. */
async function inTurn<Result>({ db }: AdminDeps, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    await lockResources(trx)
    return work(trx)
  })
}

/** Throws `id-unknown`. */
async function requireOwner(trx: Trx, resource: ResourceName, ownerId: number | undefined): Promise<void> {
  const { owner }: Resource = resources[resource]
  if (owner === undefined) return
  if (ownerId === undefined) throw new DirsyncdError('usage', `The ${owner} is missing.`)
  await requireResource(trx, owner, ownerId)
}

/** The next free id, of resources that are locked: no sequence has it, because a file may choose ids. */
async function nextId(trx: Trx, resource: ResourceName): Promise<number> {
  const table = sql.id(SCHEMA, STORAGE[resource].table)
  const { rows } = await sql<{ id: number }>`select coalesce(max(id), 0) + 1 as id from ${table}`.execute(trx)
  return rows[0]!.id
}

function changedList(before: unknown, add: readonly unknown[], remove: readonly unknown[]): unknown[] {
  const kept = (Array.isArray(before) ? before : []).filter((each) => !remove.includes(each))
  return [...new Set([...kept, ...add])]
}

function viewOf(resource: ResourceName, { id, ownerId, fields }: StoredResource): ResourceView {
  const { owner }: Resource = resources[resource]
  const { id: _, ...others } = fields
  return { id, ...(owner !== undefined && { [owner]: ownerId }), ...others }
}
