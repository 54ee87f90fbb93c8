import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import type { OpenBackend } from './backends.ts'

/** The current content of the queues as texts: keys and values in Redis, or rows in the store. */
export function queueTexts(opened: OpenBackend): Promise<string[]> {
  const { redis } = opened.backend
  return redis === undefined ? textsOfStore(opened.store.pool) : textsOfRedis(redis)
}

/** Every row of a schema. */
export async function textsOfStore(pool: Pool, schema = 'bullmq'): Promise<string[]> {
  const tables = await pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = $1`,
    [schema],
  )
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ text: string }>(
      `select each::text as text from ${schema}.${name} as each`,
    )
    texts.push(...rows.map((row) => `${name}: ${row.text}`))
  }
  return texts
}

/** Every key with its value. */
export async function textsOfRedis(redis: Redis): Promise<string[]> {
  const texts: string[] = []
  for (const key of await redis.keys('*')) texts.push(`${key}: ${JSON.stringify(await valueOf(redis, key))}`)
  return texts
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1')
    case 'stream':
      return redis.xrange(key, '-', '+')
    case 'string':
      return redis.get(key)
    default:
      return undefined
  }
}
