import { afterAll } from 'vitest'
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { createDatabase, STORE_TEMPLATE } from './databases.ts'
import { putEmptyStore } from './empty-store.ts'
import { startRedis } from './redis.ts'
import { tempDir } from './temp.ts'
import { QUICK } from './times.ts'

export type OpenBackend = {
  readonly store: Store
  readonly backend: QueueBackend
  /** Another process opens the same store with these options (only one process can open an embedded store). */
  readonly storeOptions: Parameters<typeof openStore>[0]
  /** Another process opens the same queues with these options; undefined when the queues are in the store. */
  readonly redis: Extract<Parameters<typeof openQueueBackend>[0], { kind: 'redis' }> | undefined
  close(): Promise<void>
}

export type NamedBackend = {
  readonly name: 'embedded' | 'postgres' | 'redis'
  /** An empty store and an empty queue. */
  readonly open: () => Promise<OpenBackend>
}

/**
 * The three backends, for `describe.each(allBackends())`. Redis starts when a test file first uses it and stops when
 * the file ends. With `redis`, the store is on PostgreSQL.
 */
export function allBackends(): NamedBackend[] {
  const redis = once(() => startRedis({ appendOnly: true }))
  let prefixes = 0
  return [
    {
      name: 'embedded',
      async open() {
        const dir = await tempDir()
        await putEmptyStore(dir.path)
        const opened = await openBoth({ kind: 'embedded', dataDir: dir.path })
        return { ...opened, close: () => closeAll(opened, dir) }
      },
    },
    {
      name: 'postgres',
      open: async () => openBoth({ kind: 'postgres', url: await createDatabase(STORE_TEMPLATE) }),
    },
    {
      name: 'redis',
      async open() {
        const url = await createDatabase(STORE_TEMPLATE)
        prefixes += 1
        const queue = { kind: 'redis', url: (await redis()).url, prefix: `test-${prefixes}` } as const
        return openBoth({ kind: 'postgres', url }, queue)
      },
    },
  ]
}

export function backendNamed(name: NamedBackend['name']): NamedBackend {
  return allBackends().find((each) => each.name === name)!
}

/** Opens this store, which need not be empty, with the queues in it or on Redis. */
async function openBoth(
  storeOptions: OpenBackend['storeOptions'],
  redis?: OpenBackend['redis'],
): Promise<OpenBackend> {
  const store = await openStore(storeOptions)
  const backend = await openQueueBackend(
    redis ? { ...redis, times: QUICK.jobs } : { kind: 'store', store, times: QUICK.jobs },
  )
  return {
    store,
    backend,
    storeOptions,
    redis,
    async close() {
      await backend[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

async function closeAll(opened: OpenBackend, dir: AsyncDisposable): Promise<void> {
  await opened.close()
  await dir[Symbol.asyncDispose]()
}

/** Starts a server at the first call, returns the same server afterwards, and closes it when the test file ends. */
function once<T extends { close(): Promise<void> }>(start: () => Promise<T>): () => Promise<T> {
  let server: Promise<T> | undefined
  afterAll(async () => {
    await (await server)?.close()
  })
  return () => (server ??= start())
}
