import { z } from 'zod'

/** ISO 8601 with milliseconds and a numeric offset from UTC, such as `2026-01-31T08:15:00.000+00:00`. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{2}:\d{2}$/, {
    error: 'must be an ISO 8601 time with milliseconds and a numeric offset',
  })
  .meta({
    format: 'date-time',
    description: 'ISO 8601 with milliseconds and a numeric offset from UTC.',
    examples: ['2026-01-31T08:15:00.000+00:00'],
  })

/** An absolute URL. */
export const link = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:/, { error: 'must be an absolute URL' })
  .meta({ format: 'uri' })

/** The same picture in two sizes. */
export const icons = z.looseObject({ small: link, large: link })

/** The largest id and whole number of this service's API: 32 bits, as in the store. */
export const MAX_ID = 2_147_483_647
