import { z } from 'zod'
import { log, store } from '../../base/yaml/sections.ts'
import { address, duration, network, path, retentionTime, secret, text, url } from '../../base/yaml/values.ts'

/** Every section is strict: an unknown key is an error. Every option has a description. */

const KEY_FILE_HELP =
  'is missing; it must be the path of the file with the keys that credentials are encrypted with, and ' +
  '`access-service key create FILE` makes one'

const service = z
  .strictObject({
    listen: address.default('127.0.0.1:8090').describe('Where the service listens.'),
    store: store.default('embedded').describe('Where its data is: embedded, or a PostgreSQL URL.'),
    storePassword: secret.optional().describe("The database user's password."),
    dataDir: path
      .optional()
      .describe(
        'Folder of the embedded store and of the socket to a running service. Left out: <dataDir>/service.',
      ),
    keyFile: z
      .string({ error: KEY_FILE_HELP })
      .min(1, { error: 'must be a path' })
      .meta({ title: 'path' })
      .describe(
        'File with the keys that credentials are encrypted with; access-service key create makes one.',
      ),
    publicUrl: url(['http', 'https'], { password: 'leave it out' })
      .optional()
      .describe('The address at which clients reach the service. Left out: the one that each request names.'),
    trustedProxies: z
      .array(network)
      .default([])
      .describe('Reverse proxies in front of the service, whose X-Forwarded-For is trusted.'),
    fixture: path
      .optional()
      .describe(
        'YAML file with organizations, directories and tokens. Each start creates the organizations that do not exist.',
      ),
    eventRetention: retentionTime(', or null, which keeps all')
      .nullable()
      .prefault('730d')
      .describe('How long the history of events is kept, 36500d at most. null keeps it for ever.'),
    requestLog: path.optional().describe('File that gets one line for every request.'),
    faults: text
      .optional()
      .describe('Injected faults, for tests and trials, such as "500=0.1,429=0.1:1s,drop-after=0.05".'),
    rateLimit: z
      .strictObject({
        requests: z.int().min(1).describe('Most requests …'),
        per: duration.prefault('1s').describe('… in this time.'),
      })
      .nullable()
      .prefault({ requests: 10_000, per: '10s' })
      .describe(
        'For each token, and for each address that sends no valid token; requests above it get 429. null is no limit.',
      ),
    uniqueExternalIds: z
      .boolean()
      .default(true)
      .describe('Refuse a second entry with the same external id in a directory.'),
  })
  .describe('The access-management service.')

export const serviceSchema = z
  .strictObject({
    dataDir: path
      .default('/var/lib/access-service')
      .describe('Folder of the embedded store and of the socket to a running service.'),
    log,
    service,
  })
  .describe('Configuration of access-service.')

/** Before paths, secrets and addresses are resolved. */
export type ParsedConfig = z.output<typeof serviceSchema>

/** For editors; `scripts/generate-schema.ts` writes it. */
export function serviceJsonSchema(): object {
  return { ...z.toJSONSchema(serviceSchema, { io: 'input' }), title: 'access-service' }
}
