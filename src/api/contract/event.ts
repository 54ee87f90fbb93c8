import { z } from 'zod'
import { link, timestamp } from './values.ts'

/** The actor or the subject. `email` is empty if the party has none. */
export const eventParty = z.looseObject({
  name: z.string(),
  type: z.string(),
  id: z.int(),
  '@context': link,
  '@id': link,
  email: z.string(),
})

export const event = z.looseObject({
  id: z.int(),
  type: z.string(),
  operation: z.string(),
  created_at: timestamp,
  /** By language code; English is always present. */
  description: z.looseObject({ en: z.string() }),
  actor: eventParty,
  subject: eventParty.nullable(),
})

const TIME =
  'ISO 8601: a date (`2026-01-31`) or a time with an offset (`2026-01-31T08:15:00.000+00:00`); without an offset it is UTC.'
const ADDRESS = 'An IPv4 or IPv6 address. An IPv4 address that is mapped into IPv6 is IPv4.'

function filter(description: string) {
  return z.string().optional().meta({ description })
}

/**
 * An event must match all given filters; an empty filter is ignored. Unknown names are refused, because a misspelled
 * filter would return the whole history.
 */
export const eventFilters = z.strictObject({
  type: filter('The type of event, or several separated by commas.'),
  time_from: filter(`The earliest time, itself included. ${TIME}`),
  time_to: filter(`The latest time, itself included; a date stands for its whole day. ${TIME}`),
  ip_from: filter(
    `The lowest address that the request came from, itself included. ${ADDRESS} A bound matches addresses of its own family only.`,
  ),
  ip_to: filter(`The highest address that the request came from, itself included. ${ADDRESS}`),
  group_id: filter(
    'The id of a group of the organization: events whose actor is in the group now, or whose subject is the group. No event matches an unknown group.',
  ),
  contact_id: filter('The id of the contact who is the actor.'),
})

export type EventParty = z.infer<typeof eventParty>
export type Event = z.infer<typeof event>
export type EventFilters = z.infer<typeof eventFilters>
