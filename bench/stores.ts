import { Redis } from 'ioredis'
import { Client } from 'pg'
import { type Servers, storeOn } from './creating.ts'

/** What the servers of store and queue took. */
export interface StoreSizes {
  /** The most that Redis has used since it started. */
  readonly redisPeakBytes: number
  /** The database of the store. */
  readonly databaseBytes: number
}

export async function storeSizes(servers: Servers): Promise<StoreSizes> {
  return {
    redisPeakBytes: await peakOfRedis(servers.redis.url),
    databaseBytes: await sizeOfDatabase(storeOn(servers)),
  }
}

async function peakOfRedis(url: string): Promise<number> {
  const redis = new Redis(url)
  try {
    return Number(/^used_memory_peak:(\d+)/m.exec(await redis.info('memory'))?.[1])
  } finally {
    redis.disconnect()
  }
}

async function sizeOfDatabase(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}
