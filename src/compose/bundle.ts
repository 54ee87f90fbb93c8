import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { socketPath } from '../base/socket/socket.ts'
import type { Config, QueueConfig } from '../config/config.ts'
import { type ConfigPlace, type RawConfig } from '../base/yaml/load.ts'
import { loadConfig, readRawConfig } from '../config/load.ts'
import { type AttributeReaders, maskConfig, plain } from '../config/masked.ts'
import type { Diagnostics, Missing } from '../operations/bundle/diagnostics.ts'
import { hashOf, redact, type Redaction } from '../operations/bundle/redact.ts'
import { connectSocket } from '../base/socket/socket-client.ts'
import type { Log } from '../base/log/log.ts'
import { openRedis } from '../queue/redis.ts'
import { attributesOf, parseFilter } from '../source/ldap/filter.ts'
import { compileValue } from '../source/mapping/shorthand.ts'
import { openStore } from '../store/open.ts'
import {
  collectInto,
  type DaemonDiagnostics,
  diagnoseStore,
  type OrNothing,
  processFacts,
  redisFacts,
} from './diagnose.ts'
import { databaseOptions } from '../base/database/open.ts'

export type Bundle = Readonly<Record<string, unknown>>

export interface BundleRequest {
  readonly place: ConfigPlace
  readonly log: Log
  /** Shows the sentences of errors and answers, which may name users. */
  readonly withTexts: boolean
}

/** As in the schema. */
const DEFAULT_DATA_DIR = '/var/lib/dirsyncd'

/** Reading a large store takes a daemon a while. */
const PATIENCE_MS = 300_000

export interface CollectedBundle {
  readonly bundle: Bundle
  /** One sentence for each part that could not be read. In the bundle they are redacted. */
  readonly missing: readonly string[]
}

/** Increased when keys of a bundle change their meaning. */
const FORMAT = 1

const ABOUT =
  'Diagnostics of dirsyncd for a support request. [hidden …] stands for what may be personal: the same text has the ' +
  'same number everywhere in this file, and nobody can turn a number back. Secrets are not in it.'
const WITH_TEXTS =
  ' It was made with --with-texts: sentences of errors and answers may have names and e-mails.'

/** Contains no secrets. A part that cannot be read is left out, with the reason. */
export async function collectBundle({ place, log, withTexts }: BundleRequest): Promise<CollectedBundle> {
  const redaction = { salt: randomBytes(32).toString('hex'), withTexts }
  const own: Missing[] = []
  const orNothing = collectInto(own)
  // The next read throws the reason.
  const raw = await readRawConfig(place).catch(() => undefined)
  const config = await orNothing('config', () => loadConfig(place))
  const masked = await orNothing('config', () => raw && maskedConfig(raw, redaction))
  const daemon = await orNothing('daemon', () => askDaemon(dataDirOf(config, raw), redaction))
  const places = config ?? placesIn(raw)
  const stores =
    daemon ?? (places !== undefined ? await readOwnStores(places, redaction, log, orNothing) : undefined)
  const command = await orNothing('command', processFacts)
  const missing = [...own, ...(daemon?.missing ?? []), ...(stores?.diagnostics?.missing ?? [])]
  return {
    missing: missing.map(({ text }) => text),
    bundle: {
      bundle: { format: FORMAT, made: new Date(), about: withTexts ? ABOUT + WITH_TEXTS : ABOUT },
      missing: missing.map((part) => redact(part, redaction)),
      command: command ?? null,
      daemon: daemon?.process ?? null,
      config: masked ?? null,
      queue: stores?.queue ?? null,
      ...stores?.diagnostics?.facts,
    },
  }
}

export const ATTRIBUTES: AttributeReaders = {
  'LDAP filter': (text) => attributesOf(parseFilter(text, '')),
  expression: (text) => compileValue(text, '', () => undefined).attributes,
}

function maskedConfig({ file, value }: RawConfig, redaction: Redaction) {
  const hide = (text: string) => hashOf(text, redaction)
  return { file: plain(file, hide), options: maskConfig(value, { hide, attributesOf: ATTRIBUTES }) }
}

/** With an invalid configuration, a daemon may still run on an older one. */
function dataDirOf(config: Config | undefined, raw: RawConfig | undefined): string {
  if (config !== undefined) return config.dataDir
  const { value } = raw ?? {}
  const dataDir =
    typeof value === 'object' && value !== null && 'dataDir' in value ? value.dataDir : undefined
  return typeof dataDir === 'string' ? resolve(dirname(raw?.file ?? ''), dataDir) : DEFAULT_DATA_DIR
}

type Places = Pick<Config, 'dataDir' | 'store'> & Partial<Pick<Config, 'queue'>>

/** The embedded store of an invalid configuration, if it exists; a bundle never creates it. */
function placesIn(raw: RawConfig | undefined): Places | undefined {
  const { value } = raw ?? {}
  if (typeof value !== 'object' || value === null) return undefined
  if ('store' in value && value.store !== 'embedded') return undefined
  const dataDir = dataDirOf(undefined, raw)
  return existsSync(join(dataDir, 'store')) ? { dataDir, store: { kind: 'embedded' } } : undefined
}

async function askDaemon(dataDir: string, redaction: Redaction): Promise<DaemonDiagnostics | undefined> {
  await using daemon = await connectSocket(socketPath(dataDir), {
    who: 'daemon',
    afterLoss: 'The bundle has only what can be read without it.',
    patience: PATIENCE_MS,
  })
  return await daemon?.call<DaemonDiagnostics>('POST', '/diagnostics', redaction)
}

async function readOwnStores(
  config: Places,
  redaction: Redaction,
  log: Log,
  orNothing: OrNothing,
): Promise<{ readonly queue: unknown; readonly diagnostics: Diagnostics | undefined }> {
  const { queue } = config
  return {
    queue: queue?.kind === 'redis' ? await orNothing('queue', () => readRedis(queue, log)) : (queue ?? null),
    diagnostics: await orNothing('store', async () => {
      const options = databaseOptions(config.store, {
        dataDir: config.dataDir,
        command: 'dirsyncd bundle',
        log,
      })
      await using store = await openStore({ ...options, tables: 'keep' })
      return await diagnoseStore(store, redaction)
    }),
  }
}

async function readRedis(
  { url, password }: Extract<QueueConfig, { kind: 'redis' }>,
  log: Log,
): Promise<Readonly<Record<string, unknown>>> {
  const { redis } = await openRedis({ url, ...(password && { password: () => password.read() }) }, log)
  try {
    return await redisFacts(redis)
  } finally {
    redis.disconnect()
  }
}
