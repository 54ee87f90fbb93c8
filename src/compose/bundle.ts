import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { socketPath } from '../base/socket/socket.ts'
import type { Config, QueueConfig } from '../config/config.ts'
import { type ConfigPlace, type RawConfig } from '../base/yaml/load.ts'
import { loadConfig, readRawConfig } from '../config/load.ts'
import { maskPlain } from '../config/masked-text.ts'
import { maskConfig } from '../config/masked.ts'
import { Cleaner } from '../operations/bundle/clean.ts'
import type { Diagnostics, DiagnosticsRequest } from '../operations/bundle/diagnostics.ts'
import { programWords, WORDS_UNREAD } from '../operations/bundle/words.ts'
import { connectSocket } from '../base/socket/socket-client.ts'
import type { Log } from '../base/log/log.ts'
import { openRedis } from '../queue/redis.ts'
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

/** As in the schema. */
const DEFAULT_DATA_DIR = '/var/lib/dirsyncd'

/** Reading a large store takes a daemon a while. */
const PATIENCE_MS = 300_000

export interface CollectedBundle {
  readonly bundle: Bundle
  /** One sentence for each part that could not be read. The bundle has them without names. */
  readonly missing: readonly string[]
}

/** Increased when keys of a bundle change their meaning. */
const FORMAT = 1

const ABOUT =
  'Diagnostics of dirsyncd for a support request. [user …], [group …] and [hidden …] stand for what may be about people: ' +
  'the same text has the same number everywhere in this file, and nobody can turn a number back. Secrets are not in it.'

/** Contains no secrets and no names of entries. A part that cannot be read is left out, with the reason. */
export async function collectBundle(place: ConfigPlace, log: Log): Promise<CollectedBundle> {
  const salt = randomBytes(32).toString('hex')
  const missing: string[] = []
  const orNothing = collectInto(missing)
  // The next read throws the reason.
  const raw = await readRawConfig(place).catch(() => undefined)
  const config = await orNothing(() => loadConfig(place))
  const words = await orNothing(programWords)
  const cleanerFor = (shown: readonly string[]) =>
    new Cleaner({ salt, words: words ?? new Set(), shown, known: new Map() })
  const masked = await orNothing(() => raw && maskedConfig(raw, cleanerFor([])))
  const shown = textsIn(masked)
  const request = { salt, shown }
  const daemon = await orNothing(() => askDaemon(dataDirOf(config, raw), request))
  const places = config ?? placesIn(raw)
  const own =
    daemon === undefined && places !== undefined
      ? await readOwnStores(places, request, log, orNothing)
      : undefined
  const cleaner = cleanerFor(shown)
  const stores = daemon ?? own
  const command = await orNothing(processFacts)
  const raised = [...missing, ...(daemon?.missing ?? [])]
  const cleaned = [...(words === undefined ? [WORDS_UNREAD] : []), ...(stores?.diagnostics?.errors ?? [])]
  return {
    missing: [...raised, ...cleaned],
    bundle: {
      bundle: { format: FORMAT, made: new Date(), about: ABOUT },
      missing: [
        ...raised.flatMap((error) => error.split('\n')).map((error) => cleaner.sentence(error)),
        ...cleaned,
      ],
      command: command ?? null,
      daemon: daemon?.process ?? null,
      config: masked ?? null,
      queue: stores?.queue ?? null,
      ...stores?.diagnostics?.facts,
    },
  }
}

function maskedConfig({ file, value }: RawConfig, hider: Cleaner) {
  const hide = (text: string) => hider.hidden(text)
  return { file: maskPlain(file, hide), options: maskConfig(value, hide) }
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

async function askDaemon(
  dataDir: string,
  request: DiagnosticsRequest,
): Promise<DaemonDiagnostics | undefined> {
  await using daemon = await connectSocket(socketPath(dataDir), {
    who: 'daemon',
    afterLoss: 'The bundle has only what can be read without it.',
    patience: PATIENCE_MS,
  })
  return await daemon?.call<DaemonDiagnostics>('POST', '/diagnostics', request)
}

async function readOwnStores(
  config: Places,
  request: DiagnosticsRequest,
  log: Log,
  orNothing: OrNothing,
): Promise<{ readonly queue: unknown; readonly diagnostics: Diagnostics | undefined }> {
  const { queue } = config
  return {
    queue: queue?.kind === 'redis' ? await orNothing(() => readRedis(queue, log)) : (queue ?? null),
    diagnostics: await orNothing(async () => {
      const options = databaseOptions(config.store, {
        dataDir: config.dataDir,
        command: 'dirsyncd bundle',
        log,
      })
      await using store = await openStore({ ...options, tables: 'keep' })
      return await diagnoseStore(store, request)
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

/** All texts and numbers that a masked configuration shows. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
