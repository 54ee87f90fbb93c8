import { z } from 'zod'
import { createContact, listContacts } from './contacts.ts'
import type { AdminDeps } from './deps.ts'
import { createDirectory, listDirectories } from './directories.ts'
import { createOrganization, listOrganizations } from './organizations.ts'
import { addToken, listTokens, revokeToken } from './tokens.ts'

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

const id = z.int().min(1).max(2_147_483_647)
const name = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(255, { error: 'must not be longer than 255 characters' })
const domain = z
  .string()
  .regex(/^[^\s@.]+(\.[^\s@.]+)*$/, { error: 'must be a domain such as example.org, without @' })
const SCOPES = ['ORG_READ', 'ORG', 'USER_READ', 'USER'] as const
const organizationFilter = z.strictObject({ organizationId: id.optional() })

/**
 * The operations of an administrator, which the API does not offer: the input schema and the function of each. Dates
 * are ISO text, so that a result is the same in this process and through the socket.
 */
export const adminOperations = {
  createOrganization: operation(
    z.strictObject({ name, allowedDomains: z.array(domain).min(1, { error: 'must name a domain' }) }),
    createOrganization,
  ),
  listOrganizations: operation(z.strictObject({}), listOrganizations),
  createContact: operation(
    z.strictObject({ organizationId: id, name, email: z.email({ error: 'must be an e-mail address' }) }),
    createContact,
  ),
  listContacts: operation(organizationFilter, listContacts),
  createDirectory: operation(
    z.strictObject({ organizationId: id, name, targetType: name.default('ldap') }),
    createDirectory,
  ),
  listDirectories: operation(organizationFilter, listDirectories),
  addToken: operation(
    z.strictObject({
      contactId: id,
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      scopes: z
        .array(z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }))
        .min(1, { error: `must name one of ${SCOPES.join(', ')}` }),
      expiresAt: z.iso.datetime({ error: 'must be a time such as 2030-01-31T00:00:00Z' }),
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
