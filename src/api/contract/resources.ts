import { z } from 'zod'
import { timestamp } from './values.ts'

/**
 * From the section "Resources and their fields" of the API description; subscriptions and events have their own files.
 * Unknown fields are kept, because a later version of the service may send more.
 */
export const directory = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    doppler: z.boolean(),
    target_type: z.string().describe('The type of the external directory, such as `ldap` or `csv`.'),
  })
  .describe('An external directory.')

/**
 * The description shows `external_id` as a string, but a user may be created without one. An answer can hold such a
 * user, and no path can address it.
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

/** Its members are contacts and installations. */
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
