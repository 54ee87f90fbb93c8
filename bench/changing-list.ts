import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Pool } from 'undici'
import { stringify } from 'yaml'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { startContender } from './processes.ts'
import type { DirectoryApi } from './directory-api.ts'

/** A list of users that changes while it is read: guests, spread over the list, are deleted and others are created. */
export interface ChangingList {
  readonly http: Pool
  readonly api: DirectoryApi
  readonly database: string
  /** The number of users who always exist: `person-1` to `person-<n>`. */
  readonly people: number
  /** The number of users who may be deleted: `guest-1` to `guest-<n>`. */
  readonly guests: number
}

/** Reads the list while it changes. Resolves with one sentence per read; rejects on a missed or duplicate user. */
export async function benchChangingList(list: ChangingList): Promise<string[]> {
  return [await readBackwards(list), await syncMeanwhile(list)]
}

/** Reads the pages from the last to the first, without our client. */
async function readBackwards(list: ChangingList): Promise<string> {
  const { http, api, people } = list
  const seen = new Set<string>()
  const read = async (page: number): Promise<number> => {
    const path = `${api.usersPath}?page=${page}&per_page=100`
    const { body, headers } = await http.request({ path, method: 'GET', headers: api.headers })
    for (const { external_id: id } of (await body.json()) as { external_id: string }[]) seen.add(id)
    return Math.ceil(Number(headers['total']) / 100)
  }
  const start = performance.now()
  const changes = await whileChanging(list, async () => {
    for (let page = await read(1); page >= 1; page--) await read(page)
  })
  const missed = Array.from({ length: people }, (_, index) => `person-${index + 1}`).filter(
    (id) => !seen.has(id),
  )
  if (missed.length > 0) throw new Error(`reading backwards missed ${missed.length}, such as ${missed[0]}`)
  return `read backwards page by page in ${seconds(start)} while ${changes}: missed nobody of ${people}`
}

/** Runs a sync whose source equals the directory, on a service that would accept an id twice. */
async function syncMeanwhile(list: ChangingList): Promise<string> {
  const { api, people, database } = list
  await using dir = await tempDir()
  const rows = Array.from({ length: people }, (_, index) => {
    const n = index + 1
    return `person-${n},person-${n}@example.org,Given${n % 5000} Family${n}`
  })
  await writeFile(join(dir.path, 'users.csv'), ['id,mail,name', ...rows, ''].join('\n'))
  const map = { external_id: 'id', email: 'mail', name: 'name' }
  const sync = {
    name: 'corp',
    source: { type: 'csv', users: { path: './users.csv', map } },
    directory: directorySection(api),
    policy: 'upsert',
  }
  const config = join(dir.path, 'dirsyncd.yaml')
  await writeFile(config, stringify(embeddedConfig([sync], { log: { level: 'error' } })))
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: people, applied: 0 } }
  await using daemon = await startContender('daemon', task)
  const start = performance.now()
  const changes = await whileChanging(list, () => daemon.run())
  const took = seconds(start)
  const { peakBytes } = await daemon.close()
  const duplicates = await countDuplicateIds(database)
  if (duplicates > 0) throw new Error(`${duplicates} ids have several users`)
  const memory = Math.round(peakBytes / 1024 ** 2)
  return `a run of the daemon in ${took} (${memory} MB at most) while ${changes}: no creates, no duplicates`
}

/** Until `work` ends, deletes random guests and creates users at the end of the list. Resolves with both counts. */
async function whileChanging(list: ChangingList, work: () => Promise<unknown>): Promise<string> {
  const { http, api, guests } = list
  const ended = new AbortController()
  let created = 0
  let deleted = 0
  const change = async () => {
    const headers = { ...api.headers, 'content-type': 'application/json' }
    while (!ended.signal.aborted) {
      const body = JSON.stringify({ users: [{ external_id: `late-${process.hrtime.bigint()}` }] })
      const post = await http.request({ path: api.usersPath, method: 'POST', headers, body })
      await post.body.text()
      created += 1
      const path = `${api.usersPath}/guest-${1 + Math.floor(Math.random() * guests)}`
      const removed = await http.request({ path, method: 'DELETE', headers: api.headers })
      await removed.body.text()
      if (removed.statusCode === 204) deleted += 1
    }
  }
  const changing = change()
  try {
    await work()
  } finally {
    ended.abort()
    await changing
  }
  return `${created} users were created and ${deleted} deleted`
}

async function countDuplicateIds(database: string): Promise<number> {
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    const { rowCount } = await client.query(
      'select external_id from access_management.external_users group by external_id having count(*) > 1',
    )
    return rowCount ?? 0
  } finally {
    await client.end()
  }
}

function seconds(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
