import { expect, test } from 'vitest'
import { createLevelledLog, createLog } from '../../../../src/base/log/log.ts'
import { configuredTexts, withoutPeople } from '../../../../src/base/log/people.ts'
import { cpuMsSince } from '../../../support/machine-load.ts'

test('people get a sentence with its fields behind it', () => {
  const lines: string[] = []
  const log = createLog('warn', {
    format: 'text',
    destination: { write: (line: string) => lines.push(line) },
  })
  log.child({ sync: 'corp' }).warn({ attributes: ['mail'] }, 'no entry has a mapped attribute')
  log.error('the store does not answer')
  log.info('not shown')
  expect(lines).toEqual([
    'warn: no entry has a mapped attribute (sync corp, attributes ["mail"])\n',
    'error: the store does not answer\n',
  ])
})

test('a value from outside does not rewrite the terminal of who reads the text', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog('info', { format: 'text', destination })
  log.info({ name: 'a\u001b[2Kb\nerror: forged\u202e', list: ['\u009b31m'] }, 'skipped')
  expect(lines).toEqual([
    'info: skipped (name a\\u001b[2Kb\\u000aerror: forged\\u202e, list ["\\u009b31m"])\n',
  ])
})

test('machines get JSON with the time', () => {
  const lines: string[] = []
  createLog('info', { destination: { write: (line: string) => lines.push(line) } }).info(
    { run: 7 },
    'run ended',
  )
  expect(JSON.parse(lines.join(''))).toMatchObject({
    level: 'info',
    run: 7,
    msg: 'run ended',
    time: expect.any(String),
  })
})

test('on the terminal of a daemon each line has the time of day', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  createLog('info', { format: 'text', times: true, destination }).info('daemon started')
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d info: daemon started\n$/)])
})

test('another level holds for all that was made of the log, before and after', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const { log, level, setLevel } = createLevelledLog('info', { destination })
  const sync = log.child({ sync: 'corp' })
  const run = sync.child({ run: 7 })
  setLevel('debug')
  expect(level()).toBe('debug')
  for (const each of [log, sync, run, run.child({ change: 1 })]) each.debug('shown')
  setLevel('warn')
  for (const each of [log, sync, run, run.child({ change: 1 })]) each.info('hidden')
  expect(lines).toEqual(['shown', 'shown', 'shown', 'shown'])
})

test('a log does not keep the logs that were made of it', () => {
  const { log, setLevel } = createLevelledLog('silent')
  for (let nth = 0; nth < 20_000; nth++) log.child({ nth })
  const from = process.cpuUsage()
  setLevel('error')
  expect(cpuMsSince(from)).toBeLessThan(1000)
})

test.each([
  ['the e-mail ana.horvat@example.org is taken', 'the e-mail [e-mail] is taken'],
  ['"Ana Horvat" <ana@example.org>: refused', '"…" <[e-mail]>: refused'],
  ['user "u1" was created, and shows the name "Ana"', 'user "…" was created, and shows the name "…"'],
  ['reading "ou=people,dc=example,dc=org" failed', 'reading "ou=people,dc=example,dc=org" failed'],
  ['reading "uid=ana,ou=people,dc=example,dc=org" failed', 'reading "…" failed'],
  ['postgres://dirsyncd@db:5432/x is away', 'postgres://dirsyncd@db:5432/x is away'],
  [
    'ldap://a.example.org:389: nothing arrived for 30 s',
    'ldap://a.example.org:389: nothing arrived for 30 s',
  ],
  ['ana@xn--bcher-kva.example,ben@b.example', '[e-mail],[e-mail]'],
  ['it says "" and "x"', 'it says "…" and "…"'],
])('%s is logged as %s', (text, shown) => {
  const written = {
    'tls.ca': './ca.pem\n-----BEGIN CERTIFICATE-----',
    'users.base': '["ou=people,dc=example,dc=org"]',
    'bind.dn': '"cn=reader,dc=example"',
  }
  expect(withoutPeople(text, configuredTexts({ written, syncs: [] }))).toBe(shown)
})

test('a line keeps who did something', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  createLog('info', { destination, isConfigured: () => false }).info({ by: 'ana@example.org' }, 'resumed')
  expect(JSON.parse(lines[0]!)).toMatchObject({ by: 'ana@example.org' })
})

test('a line keeps its ids and leaves out people, in its fields and in the error that it shows', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog('debug', { destination, isConfigured: () => false })
  log.info({ run: 7, id: 'ana@example.org-7', detail: 'the name "Ana" of ana@example.org' }, 'a change')
  log.debug({ err: new Error('ana@example.org is "Ana"') }, 'where it failed')
  expect(lines.join('')).not.toMatch(/Ana\b|ana@example\.org(?!-7)/)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    run: 7,
    id: 'ana@example.org-7',
    detail: 'the name "…" of [e-mail]',
  })
  expect(JSON.parse(lines[1]!).err).toMatchObject({ type: 'Error', message: '[e-mail] is "…"' })
})
