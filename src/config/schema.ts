import { z } from 'zod'
import { log, store } from '../base/yaml/sections.ts'
import { entries } from './entries-schema.ts'
import { csvSource } from './csv-schema.ts'
import { notifications } from './notifications-schema.ts'
import { commandSource, ldapSource } from './source-schema.ts'
import {
  ADDRESS_HELP,
  address,
  baseUrl,
  duration,
  network,
  retentionTime,
  path,
  secret,
  url,
} from '../base/yaml/values.ts'
import { schedule, timezone } from './schedule.ts'

/** Every section is strict: an unknown key is an error. Every option has a description, for `config/schema.json`. */

const count = z.int().min(0)
/** Elsewhere null means no limit, but deletes always have one. */
const deleteCount = z
  .int({
    error: ({ input }) =>
      input === null ? 'must be a number: deletes always have a limit, which may be large' : undefined,
  })
  .min(0)
const percent = z.number().min(0).max(100)
const id = z.int().min(1)

const redis = url(['redis', 'rediss'], {
  user: true,
  password: 'leave it out and add queuePassword: { file: PATH } or { env: NAME }',
})

const queue = z.union([z.literal('store'), redis], {
  error: 'must be store or a URL such as redis://host:6379/0',
})
const listen = z.union([z.literal(false), address], { error: `${ADDRESS_HELP}, or false` })

const DELETE_AFTER_HELP = 'must be 0, a duration such as 2h or 7d, or { runs: 3 }'

const deleteAfter = z
  .union(
    [
      z.literal(0),
      duration,
      z.strictObject({ runs: z.int().min(1).describe('In so many good reads in a row.') }),
    ],
    { error: DELETE_AFTER_HELP },
  )
  .prefault(0)
  .describe(
    'How long an entry must be absent before it is deleted: 0, a time such as 1h or 7d, or { runs: 3 }. It leaves its groups at once.',
  )

const entryLimits = () => z.strictObject({ ...limits(50), deleteAfter }).prefault({})

const memberLimits = () => z.strictObject(limits(null)).prefault({})

const limits = (updatePercent: number | null) => ({
  maxDeletes: deleteCount.default(50).describe('Most deletes of one run.'),
  maxDeletePercent: percent.default(10).describe('Most deletes of one run, as a share of what is there.'),
  maxDeletesPerDay: deleteCount.default(100).describe('Most deletes of 24 hours that nobody approved.'),
  maxUpdates: count.nullable().default(null).describe('Most updates of one run; null is no limit.'),
  maxUpdatePercent: percent
    .nullable()
    .default(updatePercent)
    .describe(
      'Most updates of one run, as a share of what is there; counts from 20 updates on; null is no limit.',
    ),
})

const guards = z
  .strictObject({
    users: entryLimits().describe('Limits for users.'),
    groups: entryLimits().describe('Limits for groups.'),
    memberships: memberLimits().describe('Limits for members that are added to groups or removed.'),
    minSourceUsers: count.default(1).describe('A source with fewer users stops the plan.'),
    maxSourceShrinkPercent: percent
      .default(20)
      .describe(
        'Every delete needs approval when the source has shrunk by more than this since the last complete run.',
      ),
    maxMovedIds: count
      .default(10)
      .describe(
        'Most ids in one run that seem to belong to another user now, because name and e-mail change completely.',
      ),
    approvalsExpireAfter: retentionTime()
      .prefault('7d')
      .describe('An approval that no run has used ends after this time, and an operator is asked again.'),
  })
  .prefault({})
  .describe('Limits beyond which a plan is held until an operator approves it.')

const hostName = z
  .string()
  .regex(/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/, {
    error: 'must be the name of a host such as dirsyncd.example.org, without a port',
  })
  .meta({ title: 'host name' })

export const domain = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)*$/u, {
    error: 'must be one domain such as example.org, without @, * and commas',
  })
  .meta({ title: 'domain' })

const directory = z
  .strictObject({
    baseUrl,
    organizationId: id.describe('Number of the organization.'),
    directoryId: id.describe('Number of the directory that becomes equal to the source.'),
    token: secret.describe('Where the access token is.'),
    ca: path
      .optional()
      .describe('PEM file with the CA of the service. Left out: the CAs of Node and of this machine.'),
    proxy: url(['http', 'https'], { password: 'leave it out' })
      .optional()
      .describe('HTTP proxy that connects to the service (CONNECT), unless NO_PROXY names its host.'),
    allowedDomains: z
      .array(domain)
      .min(1, { error: 'must name a domain; leave it out to allow every domain' })
      .optional()
      .describe(
        'E-mail domains that the organization allows. Users with others are skipped and reported, unless dropBadEmails is true. Left out: every domain.',
      ),
    dropBadEmails: z
      .boolean()
      .default(false)
      .describe(
        'true writes users whose e-mail is no address, or of another domain, without it; an e-mail that the directory has stays.',
      ),
    readConcurrency: z.int().min(1).max(64).default(4).describe('Pages read at once.'),
    writeConcurrency: z.int().min(1).max(256).default(8).describe('Changes written at once by one process.'),
    createBatch: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe(
        'Most users or groups created with one request. More than 1 only where the service takes lists; access-service conformance --writes tests it.',
      ),
    rateLimit: z
      .strictObject({
        requests: z.int().min(1).describe('Most requests within the time of per.'),
        per: duration.prefault('1s').describe('Time for these requests.'),
      })
      .optional()
      .describe(
        'Limit for the requests of all processes together, reads and retries included. Left out: no limit.',
      ),
    membership: z
      .enum(['off', 'report', 'write'])
      .default('report')
      .describe(
        'Members of groups: off reads none, report shows the differences, write also writes them (an extension of the API).',
      ),
    emails: z
      .enum(['unique', 'shared'])
      .default('unique')
      .describe(
        'unique gives each e-mail address to one user and names the others; shared writes it to all of them.',
      ),
  })
  .describe('The directory in the access-management service.')

export const sourceSection = z
  .discriminatedUnion('type', [ldapSource, csvSource, commandSource], {
    error: ({ code }) => (code === 'invalid_union' ? 'must be ldap, csv or command' : undefined),
  })
  .describe('Where users and groups are read.')

export const syncName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,40}$/, {
    error: 'must be 1 to 41 small letters, digits and hyphens, and begin with a letter or digit',
  })
  .meta({ title: 'name' })
  .describe('Name of the sync in commands, logs and metrics.')

const sync = z
  .strictObject({
    name: syncName,
    schedule: schedule
      .optional()
      .describe('When it runs: a cron expression or an interval such as 15m. Left out: only on demand.'),
    timezone: timezone
      .optional()
      .describe('Time zone of the cron expression. Left out: that of the process.'),
    source: sourceSection,
    directory,
    entries,
    policy: z
      .enum(['mirror', 'upsert', 'create-only'])
      .default('mirror')
      .describe(
        'mirror creates, updates and deletes; upsert deletes nothing and takes no user out of a group; create-only only creates.',
      ),
    guards,
  })
  .describe('One source and one directory.')

export const configSchema = z
  .strictObject({
    dataDir: path
      .default('/var/lib/dirsyncd')
      .describe('Folder of the embedded stores and of the socket to a running daemon.'),
    store: store
      .default('embedded')
      .describe('Runs, plans, journal and quarantine: embedded, or a PostgreSQL URL without a password.'),
    storePassword: secret.optional().describe("The database user's password."),
    queue: queue
      .default('store')
      .describe('Where the jobs are: in the store, or a Redis URL without a password.'),
    queuePassword: secret.optional().describe('The password of Redis.'),
    admin: z
      .strictObject({
        listen: listen
          .default('127.0.0.1:8080')
          .describe(
            'Address of the admin pages, /metrics, /healthz and /readyz; false turns it off. Pages and metrics need the token, or a reverse proxy that names the user.',
          ),
        hosts: z
          .array(hostName)
          .default([])
          .describe('Host names that the pages answer to, besides addresses and localhost.'),
        token: secret
          .optional()
          .describe(
            'Token of the pages and of /metrics, as a password or a bearer token. Left out: the daemon makes one in dataDir, in the file admin-token; a worker then shows only /healthz and /readyz.',
          ),
        userHeader: z
          .string()
          .regex(/^[A-Za-z][A-Za-z0-9-]*$/, { error: 'must be the name of a header, such as X-Remote-User' })
          .optional()
          .describe('Header in which a reverse proxy names the user, who then needs no token.'),
        trustedProxies: z
          .array(network)
          .default([])
          .describe(
            'Reverse proxies whose userHeader is trusted. One on this machine also needs proxySecret.',
          ),
        proxySecret: secret
          .optional()
          .describe(
            'Secret that the reverse proxy sends in the header X-Dirsyncd-Proxy-Secret. Left out: no proxy of this machine is trusted.',
          ),
      })
      .prefault({})
      .describe('The admin pages of the daemon.'),
    worker: z
      .strictObject({
        listen: listen
          .default(false)
          .describe('Address of /metrics, /healthz and /readyz of a worker; false turns it off.'),
      })
      .prefault({})
      .describe('Health and metrics of dirsyncd worker; /metrics needs admin.token.'),
    log,
    notifications,
    retention: z
      .strictObject({
        time: retentionTime().prefault('90d').describe('Older runs are removed.'),
        rows: z
          .int()
          .min(1000)
          .default(5_000_000)
          .describe('The most changes and steps of the journal that are kept; the oldest runs go first.'),
      })
      .prefault({})
      .describe('How long runs with their plans and journals are kept.'),
    syncs: z.array(sync).default([]).describe('Each sync keeps one directory equal to one source.'),
  })
  .describe('Configuration of dirsyncd.')

/** The configuration after Zod, before paths, secrets and addresses are resolved. */
export type ParsedConfig = z.output<typeof configSchema>
export type ParsedSync = ParsedConfig['syncs'][number]

/** For editors; `scripts/generate-schema.ts` writes it. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, { io: 'input' })
  return { ...schema, title: 'dirsyncd' }
}

export type RawSync = z.input<typeof sync>
