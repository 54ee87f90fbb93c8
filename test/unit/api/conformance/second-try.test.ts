import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openConformance, type Result } from '../../../../src/api/conformance/conformance.ts'
import { DIRECTORY, json, never, serviceAt, startService } from './fake-service.ts'

/** How the service answers a request for a directory that does not exist. */
type Answerer = (response: ServerResponse) => void

const answer =
  (status: number, body: object = {}): Answerer =>
  (response) =>
    json(response, status, body)
const cut: Answerer = (response) => response.destroy()
const silent: Answerer = () => {}

/**
 * The result of the probe "unknown directory" of #2. Each of its requests gets the next of the answers, the last one
 * again and again. From `outage` on, counted in requests of the probe, nothing is answered.
 */
async function probeUnknownDirectory(answers: readonly Answerer[], { outage = Infinity } = {}) {
  let asked = 0
  await using service = await startService((request, response) => {
    if (request.url?.endsWith('/directories/2147483645') === true) {
      const next = answers[Math.min(asked, answers.length - 1)]!
      asked += 1
      return next(response)
    }
    if (asked >= outage) return cut(response)
    const isKnown = request.headers.authorization === 'token secret-token' && request.url?.endsWith('/7')
    return isKnown === true ? json(response, 200, DIRECTORY) : json(response, 404, {})
  })
  const conformance = await openConformance(serviceAt(service.baseUrl, { timeoutMs: 200 }), never)
  const result = await resultOf(conformance.check('getDirectory'), 'unknown directory')
  await conformance.close()
  return { result, asked }
}

async function resultOf(results: AsyncGenerator<Result>, probe: string): Promise<Result | undefined> {
  for await (const result of results) if (result.probe === probe) return result
  return undefined
}

describe('a request that must be refused', () => {
  test.each([
    ['refused', answer(404), 'ok', []],
    ['accepted', answer(200, DIRECTORY), 'differs', [{ expected: 'a refusal (4xx)', actual: '200' }]],
  ])('is tried once where it is %s', async (_, answered, state, differences) => {
    const { result, asked } = await probeUnknownDirectory([answered])
    expect(result).toMatchObject({ state, differences })
    expect(asked).toBe(1)
  })

  test.each([
    ['a server error', answer(500)],
    ['a closed connection', cut],
    ['silence', silent],
  ])('is tried again after %s', async (_, failing) => {
    const { result, asked } = await probeUnknownDirectory([failing, answer(404)])
    expect(result).toMatchObject({ state: 'ok', differences: [] })
    expect(asked).toBe(2)
  })

  test.each([
    ['a server error', answer(500), { expected: 'no server error (5xx)', actual: '500' }],
    [
      'a closed connection',
      cut,
      { expected: 'an answer', actual: 'the connection was closed without an answer' },
    ],
    ['silence', silent, { expected: 'an answer', actual: 'no answer within 0.2 s' }],
  ])('is a difference where %s comes twice', async (_, failing, difference) => {
    const { result, asked } = await probeUnknownDirectory([failing])
    expect(result).toMatchObject({ state: 'differs', differences: [difference] })
    expect(asked).toBe(2)
  })

  test('ends the comparison where nothing is answered any more', async () => {
    await expect(probeUnknownDirectory([cut], { outage: 1 })).rejects.toMatchObject({
      code: 'directory-unreachable',
      message: expect.stringContaining('does not answer: the connection was closed') as unknown,
    })
  })
})

test('a case is not checked where another request that it needs fails twice', async () => {
  await using service = await startService((request, response) => {
    json(response, request.url?.includes('/users') === true ? 503 : 200, DIRECTORY)
  })
  const conformance = await openConformance(serviceAt(service.baseUrl), never)
  expect(await resultOf(conformance.check('getUser'), 'good')).toMatchObject({
    state: 'not-checked',
    differences: [],
    reason: 'it needs another request: #3 answered 503',
  })
  await conformance.close()
})

test('a directory that is always a server error is a difference, too', async () => {
  let opened = false
  await using service = await startService((request, response) => {
    if (opened && request.url?.endsWith('/7') === true) json(response, 500, {})
    else json(response, 200, request.url?.endsWith('/7') === true ? DIRECTORY : [DIRECTORY])
  })
  const conformance = await openConformance(serviceAt(service.baseUrl), never)
  opened = true
  expect(await resultOf(conformance.check('getDirectory'), 'good')).toMatchObject({
    state: 'differs',
    differences: [{ expected: 'no server error (5xx)', actual: '500' }],
  })
  await conformance.close()
})
