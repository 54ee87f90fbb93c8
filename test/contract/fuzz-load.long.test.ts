import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { Agent } from 'undici'
import { expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { watchLoad } from '../support/machine-load.ts'
import { collectGarbage } from '../support/inspected.ts'
import { startProbe } from '../support/probe.ts'
import { freePort } from '../support/server-process.ts'
import { startServiceProcess } from '../support/site.ts'
import { type FuzzedRequest, fuzzedRequest } from './fuzz-requests.ts'

const REQUESTS = 100_000
const AT_ONCE = 10
/** How many requests are made up at once. */
const BATCH = 1000

const MIB = 1024 * 1024
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** One of them follows each batch: what once kept the service busy for seconds, or filled its memory. */
const HEAVY: readonly (readonly [type: string, body: () => string])[] = [
  [JSON_TYPE, () => '['.repeat(15 * MIB)],
  [JSON_TYPE, () => `{"groups":[{"external_id":"x","name":"x","a":[${'1,'.repeat(MIB / 2 - 100)}1]}]}`],
  [FORM, () => '&'.repeat(15 * MIB)],
  [FORM, () => 'groups[][external_member_ids][]=x&'.repeat(200_000)],
  [FORM, () => Array.from({ length: 249_000 }, (_, n) => `f${n}=`).join('&')],
  [FORM, () => `a=${'%41'.repeat(5 * MIB)}`],
]

function heavyRequest(number: number): FuzzedRequest {
  const [type, body] = HEAVY[number % HEAVY.length]!
  return {
    operation: 'createGroups',
    method: 'POST',
    path: '/api/v2/organizations/1/admin/directories/7/groups',
    headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'heavy', 'content-type': type },
    body: body(),
  }
}

test(`${REQUESTS} fuzzed requests delay nobody else, and leave the memory of the service where it was`, async () => {
  const inspector = await freePort()
  await using service = await startServiceProcess({ nodeArgs: [`--inspect=127.0.0.1:${inspector}`] })
  await using stack = new AsyncDisposableStack()
  const agent = stack.adopt(new Agent({ connections: AT_ONCE, pipelining: 1 }), (each) => each.destroy())
  const send = async ({ path, method, headers, body }: FuzzedRequest) => {
    const answer = await agent.request({ origin: service.baseUrl, path, method, headers, body: body ?? null })
    const text = await answer.body.text()
    if (answer.statusCode >= 500)
      throw new Error(`${method} ${path} was answered ${answer.statusCode}: ${text}`)
  }
  const fuzz = async (many: number) => {
    const requests = fc.sample(fuzzedRequest, many)
    const sender = async () => {
      for (let next = requests.pop(); next !== undefined; next = requests.pop()) await send(next)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
  }
  for (const number of HEAVY.keys()) await send(heavyRequest(number))
  await fuzz(BATCH)
  await collectGarbage(inspector)
  const before = await residentMegabytes(service.pid)

  const scaled = watchLoad()
  const probe = startProbe({
    origin: service.baseUrl,
    path: `/api/v2/organizations/1/admin/directories`,
    headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'probe' },
  })
  for (let batch = 0; batch < REQUESTS / BATCH; batch += 1) {
    await Promise.all([fuzz(BATCH), send(heavyRequest(batch))])
  }
  const delays = await probe.stop()
  const grown = await residentMegabytes(service.pid)
  await collectGarbage(inspector)
  const after = await residentMegabytes(service.pid)
  console.info({ before, grown, after, delays })
  expect(delays.count).toBeGreaterThan(REQUESTS / 1000)
  expect(delays.p999).toBeLessThan(scaled(100))
  expect(Math.abs(after - before)).toBeLessThan(100)
})

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024
}
