import { expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'

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
