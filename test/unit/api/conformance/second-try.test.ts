import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openConformance, type Result } from '../../../../src/api/conformance/conformance.ts'
import { DIRECTORY, json, never, serviceAt, startService } from './fake-service.ts'

/** How the service answers a request for a directory that does not exist. */
type Misdeed = (response: ServerResponse) => void

const answer =
  (status: number, body: object = {}): Misdeed =>
  (response) =>
    json(response, status, body)
const cut: Misdeed = (response) => response.destroy()
const silent: Misdeed = () => {}

/**
 * The result of the probe "unknown directory" of #2. Each of the probe's requests gets the next of the answers, the last
 * one again and again. From `outage` on, counted in requests of the probe, everything is a server error.
 */
async function probeUnknownDirectory(answers: readonly Misdeed[], { outage = Infinity } = {}) {
  let asked = 0
  await using service = await startService((request, response) => {
    if (request.url?.endsWith('/directories/2147483645') === true) {
      const next = answers[Math.min(asked, answers.length - 1)]!
      asked += 1
      return next(response)
    }
    if (asked >= outage) return json(response, 503, {})
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

describe('a probe that must be refused', () => {
  test('is tried once where it is refused', async () => {
    const { result, asked } = await probeUnknownDirectory([answer(404)])
    expect(result).toMatchObject({ state: 'ok', differences: [] })
    expect(result).not.toHaveProperty('passingFault')
    expect(asked).toBe(1)
  })

  test.each([
    ['a server error', answer(500), '500'],
    ['a cut connection', cut, 'the connection was closed without an answer'],
    ['silence', silent, 'no answer within 0.2 s'],
  ])('%s that passes is no difference', async (_, misdeed, passingFault) => {
    const { result, asked } = await probeUnknownDirectory([misdeed, answer(404)])
    expect(result).toMatchObject({ state: 'ok', differences: [], passingFault })
    expect(asked).toBe(2)
  })

  test.each([
    ['answers with a server error', answer(500), { expected: 'a refusal (4xx)', actual: '500' }],
    [
      'cuts the connection',
      cut,
      { expected: 'an answer', actual: 'the connection was closed without an answer' },
    ],
    ['is silent', silent, { expected: 'an answer', actual: 'no answer within 0.2 s' }],
  ])(
    'a service that %s each time, and answers other requests, is accused',
    async (_, misdeed, difference) => {
      const { result, asked } = await probeUnknownDirectory([misdeed])
      expect(result).toMatchObject({ state: 'differs', differences: [difference] })
      expect(asked).toBe(5)
    },
  )

  test('a server error during an outage is no difference', async () => {
    const { result } = await probeUnknownDirectory([answer(500)], { outage: 1 })
    expect(result).toMatchObject({
      state: 'unclear',
      differences: [],
      reason: 'try 1: expected a refusal (4xx), got 500; then plain requests failed, too',
    })
  })

  test('a success is a difference when it comes twice', async () => {
    const { result, asked } = await probeUnknownDirectory([answer(200, DIRECTORY)])
    expect(result).toMatchObject({
      state: 'differs',
      differences: [{ expected: 'a refusal (4xx)', actual: '200' }],
    })
    expect(asked).toBe(2)
  })

  test('a success that comes once could be a coincidence', async () => {
    const { result } = await probeUnknownDirectory([answer(200), answer(404)])
    expect(result).toMatchObject({
      state: 'unclear',
      differences: [],
      reason: 'try 1: expected a refusal (4xx), got 200; try 2: as expected',
    })
  })
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
    differences: [{ expected: 'status 200', actual: '500' }],
  })
  await conformance.close()
})
