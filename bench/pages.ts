import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../test/support/server-process.ts'
import { directorySection } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareGetTask } from './contenders/bare-get.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { entriesOf, NOBODY } from './people.ts'
import { startContender } from './processes.ts'
import { startInstantService } from './services.ts'
import { writeCsvSync } from './sync-folder.ts'

const PEOPLE = 100_000
const TOKEN = 'the-token-of-the-benchmark'
const HEADERS = { accept: 'text/html', authorization: `Bearer ${TOKEN}` }

/** The run that created everybody, seen and searched in every way that its page offers, with an embedded store. */
export async function benchPages({ repetitions = 60, people = PEOPLE }: BenchOptions): Promise<Comparison[]> {
  await using dir = await tempDir()
  await using service = await startInstantService(NOBODY)
  const listen = `127.0.0.1:${await freePort()}`
  await writeFile(join(dir.path, 'admin-token'), TOKEN)
  const sync = { directory: directorySection(service, { createBatch: 100 }) }
  const admin = { listen, token: { file: './admin-token' } }
  const config = await writeCsvSync(dir.path, entriesOf(people), sync, { admin })
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: 0, applied: people } }
  await using daemon = await startContender('daemon', task)
  await daemon.run()
  const results: Comparison[] = []
  for (const page of pagesOf(people)) {
    const get = (path: string): BareGetTask => ({
      baseUrl: `http://${listen}`,
      headers: HEADERS,
      paths: [path],
    })
    await using ours = await startContender('bare-get', get(page))
    await using floor = await startContender('bare-get', get('/healthz'))
    const title = `${page}, ${people} changes in the run`
    const subject = { title, floorTitle: '/healthz', service: service.kind, count: 1 }
    results.push(await compare({ ...subject, ours, floor, repetitions }))
  }
  return results
}

function pagesOf(people: number): readonly string[] {
  const middle = Math.floor(people / 2)
  return [
    '/',
    '/runs',
    '/syncs/corp',
    '/runs/1',
    `/runs/1?after=${middle}`,
    '/runs/1?op=create-user&state=applied',
    '/runs/1?search=mueller',
    `/runs/1?search=${middle}`,
    '/runs/1?search=nobody-at-all',
    `/runs/1/changes/${middle}`,
    '/runs/1/notices',
    '/quarantine',
  ]
}
