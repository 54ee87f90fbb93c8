import { z } from 'zod'
import { timestamp } from './values.ts'

/**
 * The resources on the wire, as section "Resources and their fields" of the API description shows them; those of
 * subscriptions and events have files of their own. Unknown fields are let through: a later version of the service
 * may send more.
 */
export const directory = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    doppler: z.boolean(),
    target_type: z.string().describe('What is on the other side, such as `ldap` or `csv`.'),
  })
  .describe('An external directory.')

/**
 * `external_id` is shown as a string, but creating a user without one is allowed, so an answer may hold a user that
 * has none: such a user cannot be addressed.
 */
export const externalUser = z.looseObject({
  id: z.int(),
  external_id: z
    .string()
    .nullish()
    .describe('The identifier in the external directory; null for a user that was created without one.'),
  name: z.string().nullable(),
  first_name: z.string().nullish().describe('All but the last word of `name`.'),
  last_name: z.string().nullish().describe('The last word of `name`.'),
  email: z.string().nullable(),
})

export const externalGroup = z.looseObject({
  external_id: z.string().describe('The identifier in the external directory.'),
  name: z.string(),
  external_member_ids: z.array(z.string()).describe('The external ids of the users that are members.'),
})

/** A group of the organization itself, of contacts and installations. */
export const organizationGroup = z.looseObject({
  id: z.int(),
  name: z.string(),
  contacts_count: z.int().describe('How many contacts are in the group.'),
  installations_count: z.int().describe('How many installations the group may open.'),
  created_at: timestamp,
})

export type Directory = z.infer<typeof directory>
export type ExternalUser = z.infer<typeof externalUser>
export type ExternalGroup = z.infer<typeof externalGroup>
export type OrganizationGroup = z.infer<typeof organizationGroup>
