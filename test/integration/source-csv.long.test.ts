import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { expect, test } from 'vitest'
import type { CsvTask } from '../../bench/contenders/csv-rows.ts'
import { startContender } from '../../bench/processes.ts'
import { tempDir } from '../support/temp.ts'

test('a million rows are read in a process of less than 150 MB, most of which is Node itself', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'users.csv')
  await pipeline(Readable.from(million()), createGzip({ level: 1 }), createWriteStream(path))
  const task: CsvTask = { path, rows: 1_000_000 }
  await using reader = await startContender('csv-rows', task)
  await reader.run()
  const { peakBytes } = await reader.close()
  expect(peakBytes / 1024 ** 2).toBeLessThan(150)
})

function* million(): Generator<string> {
  yield 'id,mail,name,number\n'
  for (let start = 0; start < 1_000_000; start += 1000) {
    const rows = Array.from({ length: 1000 }, (_, each) => {
      const n = start + each
      return `u${n},person.${n}@example.org,"Zoë, ${n}",${n}\n`
    })
    yield rows.join('')
  }
}
