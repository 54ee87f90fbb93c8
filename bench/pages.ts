import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'undici'
import { stringify } from 'yaml'
import { startProgram } from '../test/support/program.ts'
import { freePort } from '../test/support/server-process.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import type { BenchOptions } from './options.ts'
import { csvOf, entriesOf } from './people.ts'
import { startInstantService } from './services.ts'

/** How long a page takes from the request to the last byte, with an embedded store. */
export interface PageFigures {
  readonly people: number
  readonly page: string
  readonly bytes: number
  readonly medianMs: number
  readonly p95Ms: number
  /** By the median of `/healthz`, which asks no store and shows nothing. */
  readonly ratio: number
}

const PEOPLE = 100_000

const TOKEN = 'the-token-of-the-benchmark'

/** The run that created everybody, seen and searched in every way that its page offers. */
export async function benchPages({
  repetitions = 60,
  people = PEOPLE,
}: BenchOptions): Promise<PageFigures[]> {
  await using dir = await tempDir()
  await using service = await startInstantService({ users: [], groups: [] })
  await writeFile(join(dir.path, 'users.csv'), csvOf(entriesOf(people)))
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const sync = {
    name: 'corp',
    source: { type: 'csv', users },
    directory: directorySection(service, { createBatch: 100 }),
  }
  const listen = `127.0.0.1:${await freePort()}`
  const config = join(dir.path, 'dirsyncd.yaml')
  const more = { log: { level: 'warn' }, admin: { listen, token: { file: './admin-token' } } }
  await writeFile(join(dir.path, 'admin-token'), TOKEN)
  await writeFile(config, stringify(embeddedConfig([sync], more)))
  await using filling = startProgram(['sync', 'corp', '--config', config], { asInProduction: true })
  const { code, stderr } = await filling.ended
  if (code !== 0) throw new Error(`the sync ended with ${code}: ${stderr}`)
  await using daemon = startProgram(['start', '--config', config], { asInProduction: true })
  await daemon.waitForOutput(/The admin page is at/)
  const client = new Client(`http://${listen}`)
  await using closing = new AsyncDisposableStack()
  closing.defer(() => client.close())
  const floor = await timePage(client, '/healthz', repetitions)
  const figures: PageFigures[] = []
  for (const page of pagesOf(people)) {
    const { bytes, times } = await timePage(client, page, repetitions)
    const medianMs = at(times, 0.5)
    figures.push({
      people,
      page,
      bytes,
      medianMs,
      p95Ms: at(times, 0.95),
      ratio: medianMs / at(floor.times, 0.5),
    })
  }
  return figures
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

async function timePage(
  client: Client,
  path: string,
  repetitions: number,
): Promise<{ readonly bytes: number; readonly times: readonly number[] }> {
  const times: number[] = []
  let bytes = 0
  // The first ten warm up.
  for (let repetition = -10; repetition < repetitions; repetition += 1) {
    const began = performance.now()
    const { statusCode, body } = await client.request({
      path,
      method: 'GET',
      headers: { accept: 'text/html', authorization: `Bearer ${TOKEN}` },
    })
    bytes = (await body.arrayBuffer()).byteLength
    if (repetition >= 0) times.push(performance.now() - began)
    if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`)
  }
  return { bytes, times: times.toSorted((a, b) => a - b) }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
