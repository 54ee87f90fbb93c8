import { expect, test } from 'vitest'
import { createLog } from '../../../../src/base/log/log.ts'
import { createOutage, isAway, whyAway } from '../../../../src/base/database/outage.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })

test.each([
  ['a refused connection', refused, true],
  ['several addresses that refuse', new AggregateError([refused], ''), true],
  ['a server that shuts down', Object.assign(new Error('terminating connection'), { code: '57P01' }), true],
  [
    'a server that starts',
    Object.assign(new Error('the database system is starting up'), { code: '57P03' }),
    true,
  ],
  ['a connection that broke', new Error('Connection terminated unexpectedly'), true],
  [
    'a connection that broke within a transaction',
    new Error('Client has encountered a connection error and is not queryable'),
    true,
  ],
  [
    'a server that ended the transaction of a frozen process',
    Object.assign(new Error('terminating connection'), { code: '25P03' }),
    true,
  ],
  ['a server that takes no connection', new Error('timeout exceeded when trying to connect'), true],
  ['a Redis that reads its data', new Error('LOADING Redis is loading the dataset in memory'), true],
  ['a Redis that is a replica', Object.assign(new Error('READONLY You'), { name: 'ReplyError' }), true],
  ['a program that says the same', new Error('it said: volume hr01-READONLY mode, OOM killer'), false],
  ['a wrong statement', Object.assign(new Error('syntax error'), { code: '42601' }), false],
  ['a full disk', Object.assign(new Error('could not extend file'), { code: '53100' }), false],
  ['no error', 'Connection terminated unexpectedly', false],
])('%s: away is %s', (_, error, away) => {
  expect(isAway(error)).toBe(away)
})

test.each([
  ['connection refused', refused],
  [
    'it has no connection left',
    Object.assign(new Error('too many connections for role "ana"'), { code: '53300' }),
  ],
  [
    'it stops or starts, or has crashed',
    Object.assign(new Error('the database is starting'), { code: '57P03' }),
  ],
  ['the connection was lost or not made in time', new Error('Connection terminated unexpectedly')],
])('why a server is away is said in words of our own: %s', (why, error) => {
  expect(whyAway(error)).toBe(why)
})

test('an outage is told once, and its end once', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const log = createLog('info', { destination })
  const outage = createOutage(log, { away: 'away', back: 'back' })
  outage.over()
  expect(outage.explains(new Error('syntax error'))).toBe(false)
  expect(outage.explains(refused)).toBe(true)
  expect(outage.explains(refused)).toBe(true)
  outage.over()
  outage.over()
  expect(outage.explains(refused)).toBe(true)
  expect(lines).toEqual(['away', 'back', 'away'])
})
