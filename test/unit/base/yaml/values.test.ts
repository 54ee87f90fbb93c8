import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkConfig } from '../../../../src/config/check.ts'
import { editDistance, nearest } from '../../../../src/base/yaml/nearest.ts'
import { parseAddress, timeout } from '../../../../src/base/yaml/values.ts'
import { scheduleProblem } from '../../../../src/config/schedule.ts'

test('a time-out is no longer than a timer can be, or it would be over at once', () => {
  expect(timeout.parse('24d')).toBe(24 * 86_400_000)
  expect(timeout.safeParse('25d').error?.issues[0]?.message).toBe('must be 24 days at most')
})

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['8080', undefined],
  ['::1:8080', undefined],
  ['host:65536', undefined],
  ['http://host:80', undefined],
])('the address %s', (text, address) => {
  expect(parseAddress(text)).toEqual(address)
})

test('a domain that is allowed is one domain', () => {
  const directory = { baseUrl: 'https://a.example', organizationId: 1, directoryId: 7, token: { env: 'T' } }
  const source = { type: 'csv', users: { path: 'u.csv', map: { external_id: 'id' } } }
  const faultsOf = (...allowedDomains: readonly string[]) =>
    checkConfig({ syncs: [{ name: 'a', source, directory: { ...directory, allowedDomains } }] }).faults
  expect(faultsOf('mühle.example', 'corp')).toEqual([])
  expect(faultsOf('x.org', '*.x.org').map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['syncs.0.directory.allowedDomains.1', 'must be one domain such as example.org, without @, * and commas'],
  ])
})

test.each(['*/15 * * * *', '0 30 6 * * MON-FRI', '@daily', '1s', '15m', '0 0 29 2 *'])(
  'the schedule %s is accepted',
  (schedule) => {
    expect(scheduleProblem(schedule)).toBeUndefined()
  },
)

test.each(['', 'x', '15', '500ms', '* * *', '0 0 30 2 *', '@never'])(
  'the schedule "%s" is refused',
  (schedule) => {
    expect(scheduleProblem(schedule)).toBeTypeOf('string')
  },
)

test.each([
  ['fliter', 'filter'],
  ['Filter', 'filter'],
  ['basedn', 'base'],
  ['zzzzzzzz', undefined],
])('the known word nearest to %s', (written, word) => {
  expect(nearest(written, ['base', 'scope', 'filter', 'map'])).toBe(word)
})

test('the distance of two words is symmetric, and nothing only for equal ones', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a))
      expect(editDistance(a, b) === 0).toBe(a === b)
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length))
    }),
  )
})
