import { z } from 'zod'
import { SCOPES } from '../../api/contract/endpoints.ts'
import { loadFixture } from '../fixture/load.ts'
import { type ResourceName, resources } from '../resources/resources.ts'
import { id, isoTime } from '../resources/values.ts'
import type { AdminDeps } from './deps.ts'
import { changeResource, createResource, listResources, removeResource } from './resources.ts'
import { createSamlKey, listSamlKeys, readSamlMetadata, removeSamlKey, useSamlKey } from './saml.ts'
import { addToken, listTokens, revokeToken } from './tokens.ts'
import { listUsersWithoutId, removeUsersWithoutId } from './users.ts'

interface Operation<Input extends z.ZodType, Output> {
  readonly input: Input
  readonly run: (deps: AdminDeps, input: z.output<Input>) => Promise<Output>
}

function operation<Input extends z.ZodType, Output>(
  input: Input,
  run: Operation<Input, Output>['run'],
): Operation<Input, Output> {
  return { input, run }
}

const resource = z.enum(Object.keys(resources) as [ResourceName, ...ResourceName[]])
const ofOrganization = z.strictObject({ organizationId: id })
const values = z.record(z.string(), z.unknown())
const items = z.record(z.string(), z.array(z.union([z.string(), z.number()]))).default({})

/**
 * What the API does not offer: the input schema and the function of each operation. Dates are ISO text, so that a
 * result is the same in this process and through the socket.
 */
export const adminOperations = {
  createResource: operation(z.strictObject({ resource, ownerId: id.optional(), values }), createResource),
  listResources: operation(z.strictObject({ resource, ownerId: id.optional() }), listResources),
  changeResource: operation(
    z.strictObject({ resource, id, values, add: items, remove: items }),
    changeResource,
  ),
  removeResource: operation(z.strictObject({ resource, id, withContents: z.boolean() }), removeResource),
  importFixture: operation(
    z.strictObject({ path: z.string(), content: z.unknown() }),
    async (deps, { path, content }) =>
      loadFixture(deps.pool, content, { path, ...(await deps.writeContext()) }),
  ),
  listUsersWithoutId: operation(z.strictObject({ directoryId: id.optional() }), listUsersWithoutId),
  removeUsersWithoutId: operation(z.strictObject({ ids: z.array(id).min(1) }), removeUsersWithoutId),
  readSamlMetadata: operation(ofOrganization, readSamlMetadata),
  listSamlKeys: operation(ofOrganization, listSamlKeys),
  createSamlKey: operation(ofOrganization, createSamlKey),
  useSamlKey: operation(z.strictObject({ id }), useSamlKey),
  removeSamlKey: operation(z.strictObject({ id }), removeSamlKey),
  addToken: operation(
    z.strictObject({
      contactId: id,
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      scopes: z
        .array(z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }))
        .min(1, { error: `must name one of ${SCOPES.join(', ')}` }),
      expiresAt: isoTime,
    }),
    addToken,
  ),
  listTokens: operation(z.strictObject({ contactId: id.optional() }), listTokens),
  revokeToken: operation(
    z.strictObject({
      id: z
        .string()
        .toLowerCase()
        .regex(/^[0-9a-f]{6,64}$/, {
          error: 'must be the id that the list shows, at least its first 6 characters',
        }),
    }),
    revokeToken,
  ),
  rotateKeys: operation(z.strictObject({}), (deps) => deps.rotateKeys()),
}

export type AdminOperation = keyof typeof adminOperations
export type AdminInput<O extends AdminOperation> = z.input<(typeof adminOperations)[O]['input']>
export type AdminOutput<O extends AdminOperation> = Awaited<ReturnType<(typeof adminOperations)[O]['run']>>
