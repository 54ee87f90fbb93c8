import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Pool } from 'undici'
import { stringify } from 'yaml'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { startOpponent } from './processes.ts'
import type { Target } from './target.ts'

/** A directory of which most stay while guests, who are all over the list, come and go. */
export interface MovingSite {
  readonly http: Pool
  readonly target: Target
  readonly database: string
  /** Those who are there throughout: `person-1` to `person-<n>`. */
  readonly people: number
  /** Those who are there at first and may go: `guest-1` to `guest-<n>`. */
  readonly guests: number
}

/** What becomes of a read while the list moves, a sentence each. Rejects where somebody is missed or there twice. */
export async function benchMoving(site: MovingSite): Promise<string[]> {
  return [await readBackwards(site), await syncMeanwhile(site)]
}

/** Page after page from the last one to the first, as anybody with the API description would. */
async function readBackwards(site: MovingSite): Promise<string> {
  const { http, target, people } = site
  const seen = new Set<string>()
  const read = async (page: number): Promise<number> => {
    const path = `${target.usersPath}?page=${page}&per_page=100`
    const { body, headers } = await http.request({ path, method: 'GET', headers: target.headers })
    for (const { external_id: id } of (await body.json()) as { external_id: string }[]) seen.add(id)
    return Math.ceil(Number(headers['total']) / 100)
  }
  const start = performance.now()
  const moves = await whileMoving(site, async () => {
    for (let page = await read(1); page >= 1; page--) await read(page)
  })
  const missed = Array.from({ length: people }, (_, index) => `person-${index + 1}`).filter(
    (id) => !seen.has(id),
  )
  if (missed.length > 0) throw new Error(`reading backwards missed ${missed.length}, such as ${missed[0]}`)
  return `read backwards page by page in ${seconds(start)} while ${moves}: missed nobody of ${people}`
}

/** A run of the daemon whose source says what is there already; the service would take an id a second time. */
async function syncMeanwhile(site: MovingSite): Promise<string> {
  const { target, people, database } = site
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
    directory: directorySection(target),
    policy: 'upsert',
  }
  const config = join(dir.path, 'dirsyncd.yaml')
  await writeFile(config, stringify(embeddedConfig([sync], { log: { level: 'error' } })))
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: people, applied: 0 } }
  await using daemon = await startOpponent('daemon', task)
  const start = performance.now()
  const moves = await whileMoving(site, () => daemon.run())
  const took = seconds(start)
  const { peakBytes } = await daemon.close()
  const twice = await idsThereTwice(database)
  if (twice > 0) throw new Error(`${twice} users are there twice`)
  const memory = Math.round(peakBytes / 1024 ** 2)
  return `a run of the daemon in ${took} (${memory} MB at most) while ${moves}: created nobody, nobody is there twice`
}

/** Deletes guests from anywhere in the list and creates others at its end until the work is done; says how many. */
async function whileMoving(site: MovingSite, work: () => Promise<unknown>): Promise<string> {
  const { http, target, guests } = site
  const ended = new AbortController()
  let created = 0
  let deleted = 0
  const move = async () => {
    const headers = { ...target.headers, 'content-type': 'application/json' }
    while (!ended.signal.aborted) {
      const body = JSON.stringify({ users: [{ external_id: `late-${process.hrtime.bigint()}` }] })
      const post = await http.request({ path: target.usersPath, method: 'POST', headers, body })
      await post.body.text()
      created += 1
      const path = `${target.usersPath}/guest-${1 + Math.floor(Math.random() * guests)}`
      const gone = await http.request({ path, method: 'DELETE', headers: target.headers })
      await gone.body.text()
      if (gone.statusCode === 204) deleted += 1
    }
  }
  const moving = move()
  try {
    await work()
  } finally {
    ended.abort()
    await moving
  }
  return `${created} users were created and ${deleted} deleted`
}

async function idsThereTwice(database: string): Promise<number> {
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
