import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { DirsyncdError } from '../../base/errors.ts'
import { sentenceOf } from '../../base/issue-sentence.ts'
import { openCredentials } from '../store/credentials.ts'
import type { Database, Trx } from '../store/database.ts'
import type { Columns, WriteContext } from '../store/resource-tables.ts'
import {
  moveSubscriptions,
  selectResources,
  type StoredResource,
  updateResource,
} from '../store/resources.ts'
import { describeIssues } from './issues.ts'
import { type ResourceName, resources, type ResourceValue } from './resources.ts'

/** By field; an object holds only the fields to change. */
export type Patch = Readonly<Record<string, unknown>>

/** Fields of the patch with another value. Ignores the order of lists. */
export function differences(
  resource: ResourceName,
  before: StoredResource,
  patch: Patch,
  context: WriteContext,
): string[] {
  const current = withSecrets(resource, before, context)
  const value: Patch = parseChange(resource, current, patch)
  const old: Patch = parseChange(resource, current, {})
  return Object.keys(patch).filter((field) => !isSame(value[field], old[field]))
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return isDeepStrictEqual(new Set(one), new Set(other))
  return isDeepStrictEqual(one, other)
}

/** Returns whether the patch changed anything; `before` is locked. */
export async function writeChange(
  trx: Trx,
  resource: ResourceName,
  before: StoredResource,
  patch: Patch,
  context: WriteContext,
): Promise<boolean> {
  if (differences(resource, before, patch, context).length === 0) return false
  const current = withSecrets(resource, before, context)
  const value = parseChange(resource, current, patch)
  const complete = await withReferences(trx, resource, before.ownerId, value)
  await updateResource(trx, resource, complete, context, before.row)
  if (resource === 'installation')
    await moveSubscriptions(trx, before.id, addressOf(current), addressOf(value))
  return true
}

export function addressOf(installation: Patch): string {
  return (installation['configuration'] as { readonly url: string }).url
}

/** Throws `id-unknown`. */
export async function requireResource(
  db: Database,
  resource: ResourceName,
  id: number,
  { locked = false } = {},
): Promise<StoredResource> {
  const [found] = await selectResources(db, resource, { ids: [id], locked })
  if (found === undefined) throw unknownId(resource, id)
  return found
}

export function unknownId(what: string, id: number | string): DirsyncdError {
  return new DirsyncdError(
    'id-unknown',
    `There is no ${what} ${id}; access-service ${what} list shows those that exist.`,
  )
}

/** Without repetitions in its lists. Throws `usage`. */
export function parseValue<Name extends ResourceName>(resource: Name, values: Patch): ResourceValue<Name> {
  const result = (resources[resource].schema as z.ZodType).safeParse(values, {
    reportInput: true,
    error: sentenceOf,
  })
  if (result.success) return withoutRepetitions(result.data as Patch) as ResourceValue<Name>
  throw new DirsyncdError('usage', describeIssues(result.error, resources[resource]))
}

/** As they are stored. Throws `usage`, which names the option: `--add-domain`. */
export function parseItems(
  resource: ResourceName,
  field: string,
  how: 'add' | 'remove',
  items: readonly unknown[],
): unknown[] {
  if (items.length === 0) return []
  const shape = resources[resource].schema.shape as Readonly<Record<string, z.ZodType>>
  const result = shape[field]!.safeParse(items, { reportInput: true, error: sentenceOf })
  if (result.success) return result.data as unknown[]
  const issues = result.error.issues.map((issue) => ({ ...issue, path: [field, ...issue.path] }))
  throw new DirsyncdError('usage', describeIssues({ issues }, resources[resource], `${how}-`))
}

export function mayBeEmpty(resource: ResourceName, field: string): boolean {
  const shape = resources[resource].schema.shape as Readonly<Record<string, z.ZodType>>
  return shape[field]!.safeParse([]).success
}

/**
 * The current value with the patch. Existing faults, such as a name that a contact made longer than an operator may,
 * stay. Throws `usage` for faults of the patch.
 */
function parseChange<Name extends ResourceName>(
  resource: Name,
  current: Patch,
  patch: Patch,
): ResourceValue<Name> {
  const parse = (values: Patch) =>
    (resources[resource].schema as z.ZodType).safeParse(values, { reportInput: true, error: sentenceOf })
  const value = merged(current, patch)
  const result = parse(value)
  if (result.success) return withoutRepetitions(result.data as Patch) as ResourceValue<Name>
  const known = new Set(parse(current).error?.issues.map(keyOf))
  const issues = result.error.issues.filter((issue) => {
    return String(issue.path[0]) in patch || !known.has(keyOf(issue))
  })
  if (issues.length > 0) throw new DirsyncdError('usage', describeIssues({ issues }, resources[resource]))
  return withoutRepetitions(value) as ResourceValue<Name>
}

function keyOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.join('.')} ${message}`
}

function withoutRepetitions(value: Patch): Patch {
  return Object.fromEntries(
    Object.entries(value).map(([field, of]) => [field, Array.isArray(of) ? [...new Set(of)] : of]),
  )
}

type References = Readonly<Record<string, ResourceName>>

const REFERENCES: Readonly<Partial<Record<ResourceName, References>>> = {
  installation: { provider: 'provider' },
  subscription: { installation: 'installation' },
  group: { contacts: 'contact', installations: 'installation' },
}

/**
 * Checks that references exist in the same organization, and gives a subscription without an address that of its
 * installation. Throws `id-unknown`.
 */
export async function withReferences<Name extends ResourceName>(
  trx: Trx,
  resource: Name,
  ownerId: number | undefined,
  value: ResourceValue<Name>,
): Promise<ResourceValue<Name>> {
  const organizationId = await organizationOf(trx, resource, ownerId)
  const references: References = REFERENCES[resource] ?? {}
  for (const [field, to] of Object.entries(references)) {
    const ids = [(value as Columns)[field]].flat() as number[]
    const found = await selectResources(trx, to, { ids })
    const usable = found.filter((each) => each.ownerId === undefined || each.ownerId === organizationId)
    const missing = ids.find((id) => !usable.some((each) => each.id === id))
    if (missing !== undefined) throw unknownReference(to, missing, organizationId)
    if (resource === 'subscription') {
      return { launch_url: addressOf(found[0]!.fields), ...value }
    }
  }
  return value
}

function unknownReference(
  resource: ResourceName,
  id: number,
  organizationId: number | undefined,
): DirsyncdError {
  const of = resource === 'provider' ? '' : ` of organization ${organizationId}`
  return new DirsyncdError(
    'id-unknown',
    `There is no ${resource} ${id}${of}; access-service ${resource} list shows those that exist.`,
  )
}

async function organizationOf(
  trx: Trx,
  resource: ResourceName,
  ownerId: number | undefined,
): Promise<number | undefined> {
  if (resource !== 'subscription' || ownerId === undefined) return ownerId
  return (await requireResource(trx, 'contact', ownerId)).ownerId
}

function withSecrets(
  resource: ResourceName,
  { fields, row }: StoredResource,
  { vault }: WriteContext,
): Patch {
  const known = Object.entries(fields).filter(([field]) => field in resources[resource].schema.shape)
  const credentials =
    resource === 'subscription' ? { credentials: openCredentials(vault, row as never) } : undefined
  return { ...Object.fromEntries(known), ...credentials }
}

/** Merges objects, except credentials, which are replaced as a whole. */
function merged(before: Patch, patch: Patch): Patch {
  const after: Record<string, unknown> = { ...before }
  for (const [field, value] of Object.entries(patch)) {
    const old = after[field]
    after[field] = isObject(old) && isObject(value) && field !== 'credentials' ? merged(old, value) : value
  }
  return after
}

function isObject(value: unknown): value is Patch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
