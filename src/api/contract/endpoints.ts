import { z } from 'zod'
import { event, eventFilters } from './event.ts'
import { directory, externalGroup, externalUser, organizationGroup } from './resources.ts'
import { assertion, credentials, subscription, subscriptionWithSubscriber } from './subscription.ts'

/** No scope implies another. */
export const SCOPES = ['ORG_READ', 'ORG', 'USER_READ', 'USER'] as const

export type Scope = (typeof SCOPES)[number]

/** The prefix of every path; all endpoints share the parameter `{organization_id}`. */
export const PREFIX = '/api/v2/organizations/{organization_id}'

/** The only path parameter that is a text. All others are ids of the service: whole numbers from 1. */
export const EXTERNAL_ID = 'external_id'

/** From the description. */
export const PAGE = { default: 20, max: 100 } as const

/** Bytes of a RelayState (#16), from the SAML bindings. */
export const MAX_RELAY_STATE = 80

/** Entries in one create request (#4, #9); our own limit, the description has none. */
export const MAX_ENTRIES = 100

/** Flat fields, or a list of entries under a name such as `users[][email]`. */
export interface Form<Fields extends z.ZodObject = z.ZodObject> {
  /** The name of the list (`users`, `groups`) if the form holds several entries. */
  readonly list?: string
  /** Of the form or of one list entry, in the order in which a client sends them. */
  readonly fields: Fields
}

/**
 * `number` is the row in the description's table. `status` is what the service in this repository answers; a client
 * accepts any 2xx. `response` is absent if the answer has no body.
 */
export interface Endpoint {
  readonly number: number
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly scope: Scope
  /** The answer is one page of a list; `key` identifies an item. */
  readonly paged?: { readonly key: string }
  /** Without `page` and `per_page`; an object is sent as `filters[type]=…`. */
  readonly query?: z.ZodObject
  readonly form?: Form
  readonly status: 200 | 201 | 204
  readonly response?: z.ZodType
  /** One sentence for the OpenAPI text and for error messages. */
  readonly purpose: string
}

const externalId = z.string().meta({
  description: 'The identifier in the external directory, unique there; up to 2,048 bytes.',
  examples: ['E-1001'],
})

const email = z.string().meta({
  description: "In one of the organization's allowed domains.",
  examples: ['ada@northgate.example'],
})

/** Forms and queries hold only text, so a boolean may be the text `true` or `false`; JSON may hold a real boolean. */
const formBoolean = z.union([z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })], {
  error: 'must be true or false',
})

const formInteger = z.union(
  [
    z.int(),
    z
      .string()
      .regex(/^[+-]?\d+$/)
      .transform(Number),
  ],
  {
    error: 'must be a whole number',
  },
)

/**
 * An extension of this service: the description shows no endpoint that writes members. If it is left out, the members
 * do not change; in a form, a single `external_member_ids[]=` is the empty list.
 */
const memberIds = z
  .array(z.string().min(1))
  .optional()
  .describe('An extension: the external ids of all members. Left out, the members stay as they are.')

export const endpoints = {
  listDirectories: {
    number: 1,
    method: 'GET',
    path: '/admin/directories',
    scope: 'ORG_READ',
    paged: { key: 'id' },
    status: 200,
    response: z.array(directory),
    purpose: 'List the directories of the organization.',
  },
  getDirectory: {
    number: 2,
    method: 'GET',
    path: '/admin/directories/{directory_id}',
    scope: 'ORG_READ',
    status: 200,
    response: directory,
    purpose: 'Read one directory.',
  },
  listUsers: {
    number: 3,
    method: 'GET',
    path: '/admin/directories/{directory_id}/users',
    scope: 'ORG_READ',
    paged: { key: 'id' },
    status: 200,
    response: z.array(externalUser),
    purpose: 'List the users of a directory, ordered by id.',
  },
  createUsers: {
    number: 4,
    method: 'POST',
    path: '/admin/directories/{directory_id}/users',
    scope: 'ORG',
    form: {
      list: 'users',
      fields: z.object({
        external_id: externalId.optional(),
        email: email.optional(),
        name: z.string().optional(),
        employee_id: z
          .string()
          .optional()
          .describe('The employee id inside the company; no answer shows it.'),
      }),
    },
    status: 201,
    response: z.array(externalUser),
    purpose: 'Create one to 100 users in a directory, all or none.',
  },
  getUser: {
    number: 5,
    method: 'GET',
    path: '/admin/directories/{directory_id}/users/{external_id}',
    scope: 'ORG_READ',
    status: 200,
    response: externalUser,
    purpose: 'Read one user of a directory.',
  },
  updateUser: {
    number: 6,
    method: 'PATCH',
    path: '/admin/directories/{directory_id}/users/{external_id}',
    scope: 'ORG',
    form: { fields: z.object({ email: email.optional(), name: z.string().optional() }) },
    status: 200,
    response: externalUser,
    purpose: 'Edit the name or the e-mail of a user.',
  },
  deleteUser: {
    number: 7,
    method: 'DELETE',
    path: '/admin/directories/{directory_id}/users/{external_id}',
    scope: 'ORG',
    status: 204,
    purpose: 'Remove a user from a directory and from its groups.',
  },
  listGroups: {
    number: 8,
    method: 'GET',
    path: '/admin/directories/{directory_id}/groups',
    scope: 'ORG_READ',
    paged: { key: 'external_id' },
    status: 200,
    response: z.array(externalGroup),
    purpose: 'List the groups of a directory, ordered by id.',
  },
  createGroups: {
    number: 9,
    method: 'POST',
    path: '/admin/directories/{directory_id}/groups',
    scope: 'ORG',
    form: {
      list: 'groups',
      fields: z.object({
        external_id: externalId.min(1),
        name: z.string().describe('Not empty.'),
        external_member_ids: memberIds,
      }),
    },
    status: 201,
    response: z.array(externalGroup),
    purpose: 'Create one to 100 groups in a directory, all or none.',
  },
  getGroup: {
    number: 10,
    method: 'GET',
    path: '/admin/directories/{directory_id}/groups/{external_id}',
    scope: 'ORG_READ',
    status: 200,
    response: externalGroup,
    purpose: 'Read one group of a directory.',
  },
  deleteGroup: {
    number: 11,
    method: 'DELETE',
    path: '/admin/directories/{directory_id}/groups/{external_id}',
    scope: 'ORG',
    status: 204,
    purpose: 'Remove a group from a directory.',
  },
  updateGroup: {
    number: 12,
    method: 'PATCH',
    path: '/admin/directories/{directory_id}/groups/{external_id}',
    scope: 'ORG',
    form: { fields: z.object({ name: z.string().describe('Not empty.'), external_member_ids: memberIds }) },
    status: 200,
    response: externalGroup,
    purpose: 'Edit the name of a group and, as an extension, set its members.',
  },
  listSubscriptions: {
    number: 13,
    method: 'GET',
    path: '/subscriptions',
    scope: 'USER_READ',
    paged: { key: 'id' },
    query: z.object({
      all: formBoolean
        .optional()
        .describe('With `true`, one page holds all subscriptions, and `page` and `per_page` are ignored.'),
    }),
    status: 200,
    response: z.array(subscription),
    purpose:
      'List the subscriptions of the contact that the token belongs to; `all=true` lists all on one page.',
  },
  getSubscription: {
    number: 14,
    method: 'GET',
    path: '/subscriptions/{subscription_id}',
    scope: 'USER_READ',
    status: 200,
    response: subscriptionWithSubscriber,
    purpose: 'Read one subscription of the contact, with its subscriber.',
  },
  updateSubscription: {
    number: 15,
    method: 'PATCH',
    path: '/subscriptions/{subscription_id}',
    scope: 'USER',
    form: {
      fields: z.object({
        favorite: formBoolean.optional(),
        name: z.string().optional().describe('Not empty.'),
        position: formInteger.optional().describe("The position in the contact's own order, from 0."),
      }),
    },
    status: 200,
    response: subscription,
    purpose: 'Edit the name, the sort position or the favorite flag of a subscription.',
  },
  createAssertion: {
    number: 16,
    method: 'POST',
    path: '/subscriptions/{subscription_id}/assertion',
    scope: 'USER_READ',
    form: {
      fields: z.object({
        RelayState: z
          .string()
          .optional()
          .describe(`Returned unchanged; at most ${MAX_RELAY_STATE} bytes of UTF-8.`),
      }),
    },
    status: 200,
    response: assertion,
    purpose: 'Make a signed SAML assertion for the installation of a subscription.',
  },
  readCredentials: {
    number: 17,
    method: 'POST',
    path: '/subscriptions/{subscription_id}/credentials',
    scope: 'USER_READ',
    status: 200,
    response: credentials,
    purpose: 'Read the credentials of a subscription; each read is recorded as an event.',
  },
  resetPassword: {
    number: 18,
    method: 'POST',
    path: '/subscriptions/{subscription_id}/password/reset',
    scope: 'USER',
    status: 200,
    response: subscription,
    purpose: 'Give a subscription a new generated password.',
  },
  listEvents: {
    number: 19,
    method: 'GET',
    path: '/events',
    scope: 'ORG_READ',
    paged: { key: 'id' },
    query: z.object({
      filters: eventFilters.optional().meta({ examples: [{ type: 'create_directory_user' }] }),
    }),
    status: 200,
    response: z.array(event),
    purpose: 'List the events of the organization, newest first.',
  },
  listOrganizationGroups: {
    number: 20,
    method: 'GET',
    path: '/admin/groups',
    scope: 'ORG_READ',
    paged: { key: 'id' },
    query: z.object({
      q: z
        .string()
        .optional()
        .describe('A part of the name; case does not matter. An empty `q` matches every name.'),
    }),
    status: 200,
    response: z.array(organizationGroup),
    purpose: 'List the groups of the organization whose name holds `q`, ordered by id.',
  },
  getOrganizationGroup: {
    number: 21,
    method: 'GET',
    path: '/admin/groups/{group_id}',
    scope: 'ORG_READ',
    status: 200,
    response: organizationGroup,
    purpose: 'Read one group of the organization.',
  },
} as const satisfies Record<string, Endpoint>

export type Operation = keyof typeof endpoints
