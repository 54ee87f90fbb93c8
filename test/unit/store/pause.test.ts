import { expect, test } from 'vitest'
import { createLog } from '../../../src/base/log/log.ts'
import { createPauseLog, type Pause } from '../../../src/store/pause.ts'

const ENDS = new Date('2026-11-21T07:29:03.000Z')

function pauseOf(leftMs: number): Pause {
  return { leftMs, ends: ENDS, why: 'limited' }
}

function createRecordedLog() {
  const lines: { level: string; until: string }[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { lines, say: createPauseLog(createLog('debug', { destination })) }
}

test('a pause is logged once, with its end, however many requests find out', () => {
  const { lines, say } = createRecordedLog()
  for (const leftMs of [900_000, 900_000, 850_000]) say(pauseOf(leftMs))
  expect(lines).toMatchObject([{ level: 'warn', until: ENDS.toISOString() }])
})

test('a pause of less than a minute is no warning', () => {
  const { lines, say } = createRecordedLog()
  say(pauseOf(50_000))
  expect(lines).toMatchObject([{ level: 'info' }])
})

test('a pause of a moment is for whoever looks for a fault', () => {
  const { lines, say } = createRecordedLog()
  say(pauseOf(1000))
  expect(lines).toMatchObject([{ level: 'debug' }])
})
