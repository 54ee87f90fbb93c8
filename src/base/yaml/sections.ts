import { z } from 'zod'
import { LOG_LEVELS } from '../log/log.ts'
import { url } from './values.ts'

const postgres = url(['postgres', 'postgresql'], {
  user: true,
  password: 'leave it out and add storePassword: { file: PATH } or { env: NAME }',
})

export const store = z.union([z.literal('embedded'), postgres], {
  error: 'must be embedded or a URL such as postgres://user@host/database',
})

export const log = z
  .strictObject({
    level: z.enum(LOG_LEVELS).default('info').describe('The least important message that is logged.'),
    people: z
      .boolean()
      .default(false)
      .describe('Also logs e-mails, names and answers about single entries, not only ids.'),
  })
  .prefault({})
  .describe('The log, JSON lines on standard error.')
