import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRequestLog } from '../../../../src/service/http/request-log.ts'
import { tempDir } from '../../../support/temp.ts'

test('the log of requests, which names people in its paths, is for its user only', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'requests.log')
  const log = createRequestLog(path)
  const line = { at: 1, method: 'GET', url: '/users/ada', status: 200, done: true, deviceId: null }
  log.write(line)
  log.close()
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(line)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})
