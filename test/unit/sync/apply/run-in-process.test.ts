import { expect, test } from 'vitest'
import { RunInProcess } from '../../../../src/sync/apply/run-in-process.ts'

test('three batches in a row that were not created as sent are the last ones', () => {
  const run = new RunInProcess()
  const seen = [false, false, true, false, false, false, false].map((isAsSent) => run.seeBatch(isAsSent))
  expect(seen).toEqual([false, false, false, false, false, true, false])
  expect(run.sendsBatches).toBe(false)
})
