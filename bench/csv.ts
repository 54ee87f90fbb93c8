import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { CsvTask } from './contenders/csv-rows.ts'
import { csvOf, entriesOf } from './people.ts'
import { startContender } from './processes.ts'
import type { BenchOptions } from './options.ts'

const ROWS = 1_000_000
const ROWS_PER_PART = 1000

/** Reads a million rows and keeps none, to measure only the memory of reading. */
export async function benchCsv(options: BenchOptions): Promise<Comparison[]> {
  await using dir = await tempDir()
  const task: CsvTask = { path: join(dir.path, 'users.csv'), rows: ROWS }
  await pipeline(Readable.from(parts()), createWriteStream(task.path))
  await using ours = await startContender('csv-rows', task, options)
  await using floor = await startContender('bare-csv', task)
  const comparison = await compare({
    id: 'csv',
    title: `${ROWS} rows of CSV`,
    floorTitle: 'csv-parse, plain',
    service: 'none',
    count: ROWS,
    ours,
    floor,
    repetitions: options.repetitions ?? 5,
  })
  return [comparison]
}

/** Repeats the same rows, because generating a million different rows takes longer than reading them. */
function* parts(): Generator<string> {
  const [head = '', ...rows] = csvOf(entriesOf(ROWS_PER_PART)).split('\n').slice(0, -1)
  yield `${head}\n`
  const part = rows.map((row) => `${row}\n`).join('')
  for (let done = 0; done < ROWS; done += ROWS_PER_PART) yield part
}
