import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openConformance, type Result } from '../../../../src/api/conformance/conformance.ts'
import { DIRECTORY, json, never, serviceAt, startService } from './fake-service.ts'

type Entry = Readonly<Record<string, unknown>>

/** A directory of a service that takes each request it understands, also without a device id, and checks no value. */
class LenientDirectory {
  readonly entries = new Map<string, Entry>()
  /** The answers to the next requests that delete something. */
  readonly deletionFaults: number[] = []
  /** The status for an entry that does not exist. */
  missing = 404

  answer(request: IncomingMessage, response: ServerResponse): void {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => this.#answer(request, response, body))
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (request.headers.authorization !== 'token secret-token') return json(response, 401, {})
    const path = /^\/api\/v2\/organizations\/1\/admin\/directories\/7(\/.*)?$/.exec(request.url ?? '')
    if (path === null) return json(response, 404, {})
    const id = /^\/(?:users|groups)\/(.+)$/.exec(path[1] ?? '')?.[1]
    const fields = formIn(body)
    if (request.method === 'POST') return this.#create(response, fields)
    if (id === undefined) return json(response, 200, DIRECTORY)
    const entry = this.entries.get(id)
    if (entry === undefined) return json(response, this.missing, {})
    if (request.method === 'DELETE') return this.#delete(response, id)
    if (request.method === 'PATCH') {
      if (request.url?.includes('/groups/') === true && fields['name'] === undefined)
        return json(response, 400, {})
      this.entries.set(id, { ...entry, ...fields })
    }
    return json(response, 200, this.entries.get(id))
  }

  #create(response: ServerResponse, fields: Entry): void {
    const entry = {
      id: 1,
      external_id: fields['external_id'],
      name: fields['name'] ?? null,
      first_name: null,
      last_name: null,
      email: null,
      external_member_ids: [],
    }
    this.entries.set(String(entry.external_id), entry)
    json(response, 201, [entry])
  }

  #delete(response: ServerResponse, id: string): void {
    const fault = this.deletionFaults.shift()
    if (fault === undefined) this.entries.delete(id)
    json(response, fault ?? 204, fault === undefined ? '' : {})
  }
}

/** The fields of a form, or of its only entry. */
function formIn(body: string): Entry {
  try {
    return JSON.parse(body) as Entry
  } catch {
    return Object.fromEntries(
      [...new URLSearchParams(body)].map(([key, value]) => [/(\w+)\]?$/.exec(key)?.[1] ?? key, value]),
    )
  }
}

async function openLenient() {
  const directory = new LenientDirectory()
  const service = await startService((request, response) => directory.answer(request, response))
  const tested = serviceAt(service.baseUrl, { writes: true, emailDomain: 'example.org' })
  const conformance = await openConformance(tested, never)
  return {
    directory,
    conformance,
    [Symbol.asyncDispose]: async () => {
      await conformance.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

const OF_ONE_ENTRY = [
  'getUser',
  'updateUser',
  'deleteUser',
  'getGroup',
  'deleteGroup',
  'updateGroup',
] as const

test('a service that deletes or changes entries where it could refuse is not accused for what is missing afterwards', async () => {
  await using lenient = await openLenient()
  const results: Result[] = []
  for (const operation of OF_ONE_ENTRY) {
    results.push(...(await Array.fromAsync(lenient.conformance.check(operation))))
  }
  expect(results.filter(({ state }) => state === 'differs')).toEqual([])
})

test('each entry is removed when its case is over, so that nothing of the check is in the lists for long', async () => {
  await using lenient = await openLenient()
  for await (const { probe } of lenient.conformance.check('updateGroup')) {
    expect([probe, lenient.directory.entries.size]).toEqual([probe, 0])
  }
})

test('an entry that cannot be removed at once is removed later', async () => {
  await using lenient = await openLenient()
  lenient.directory.deletionFaults.push(403, 503)
  await lenient.conformance.check('getGroup').next()
  expect(lenient.directory.entries.size).toBe(1)
  expect(await lenient.conformance.close()).toEqual([])
  expect(lenient.directory.entries.size).toBe(0)
})

test('a deleted entry that the service does not call missing is no leftover', async () => {
  await using lenient = await openLenient()
  lenient.directory.missing = 400
  await lenient.conformance.check('deleteUser').next()
  expect(await lenient.conformance.close()).toEqual([])
})
