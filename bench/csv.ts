import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tempDir } from '../test/support/temp.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { CsvTask } from './contenders/csv-rows.ts'
import { csvOf, entriesOf } from './people.ts'
import { startContender } from './processes.ts'

const ROWS = 1_000_000
const ROWS_PER_PART = 1000

/** Reads a million rows and keeps none, to measure only the memory of reading. */
export async function benchCsv({
  repetitions = 5,
  people: rows = ROWS,
}: BenchOptions): Promise<Comparison[]> {
  await using dir = await tempDir()
  const task: CsvTask = { path: join(dir.path, 'users.csv'), rows }
  await pipeline(Readable.from(parts(rows)), createWriteStream(task.path))
  await using ours = await startContender('csv-rows', task)
  await using floor = await startContender('bare-csv', task)
  const comparison = await compare({
    title: `${rows} rows of CSV`,
    floorTitle: 'csv-parse, plain',
    service: 'none',
    count: rows,
    ours,
    floor,
    repetitions,
  })
  return [comparison]
}

/** Repeats the same rows, because generating a million different rows takes longer than reading them. */
function* parts(count: number): Generator<string> {
  const size = Math.min(count, ROWS_PER_PART)
  const [head = '', ...rows] = csvOf(entriesOf(size)).split('\n').slice(0, -1)
  yield `${head}\n`
  const part = rows.map((row) => `${row}\n`).join('')
  for (let done = 0; done < count; done += size) yield part
}
