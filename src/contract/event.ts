import { z } from 'zod'
import { link, timestamp } from './values.ts'

/** Who did something, or what it was done to. `email` is empty where the party has none. */
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
  /** Language code to text; English is always there. */
  description: z.looseObject({ en: z.string() }),
  actor: eventParty,
  subject: eventParty.nullable(),
})

/** The filters of the event history; all that are given must hold. */
export const eventFilters = z.object({
  type: z.string().optional(),
  time_from: z.string().optional(),
  time_to: z.string().optional(),
  ip_from: z.string().optional(),
  ip_to: z.string().optional(),
  group_id: z.string().optional(),
  contact_id: z.string().optional(),
})

export type EventParty = z.infer<typeof eventParty>
export type Event = z.infer<typeof event>
export type EventFilters = z.infer<typeof eventFilters>
