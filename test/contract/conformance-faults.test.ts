import { expect, onTestFinished, test } from 'vitest'
import { openConformance } from '../../src/conformance/conformance.ts'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { linesOf, startFaulty } from './conformance-faults.ts'
import { wholeTarget } from './whole-target.ts'

/** One wrong answer each, which must be found among the random faults. */
const WRONG: Readonly<Record<string, readonly [intercept: ApiProxy['intercept'], found: string]>> = {
  'a user that nobody has is found': [
    ({ method, url }) =>
      method === 'GET' && url.endsWith('/users/dirsyncd-check-nobody') ? { status: 200 } : undefined,
    '#5 unknown external id: expected a refusal (4xx), got 200',
  ],
  'an unknown group id crashes the service': [
    ({ url }) => (url.endsWith('/admin/groups/abc') ? 'cut' : undefined),
    '#21 group "abc": expected an answer, got the connection was closed without an answer',
  ],
  'an unknown group id is a server error': [
    ({ url }) => (url.endsWith('/admin/groups/abc') ? { status: 500 } : undefined),
    '#21 group "abc": expected a refusal (4xx), got 500',
  ],
}

test.each(Object.entries(WRONG))('%s: said also among random faults, and nothing else', async (_, wrong) => {
  const [intercept, found] = wrong
  const service = await startFaulty(3)
  const proxy = await startApiProxy(service.baseUrl)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  proxy.intercept = intercept
  const conformance = await openConformance(wholeTarget(proxy.baseUrl), AbortSignal.timeout(280_000))
  const operation = found.startsWith('#5') ? 'getUser' : 'getOrganizationGroup'
  const results = await Array.fromAsync(conformance.check(operation))
  expect(linesOf(results, 'differs')).toEqual([found])
  expect(await conformance.close()).toEqual([])
})
