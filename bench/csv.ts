import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { CsvTask } from './contenders/csv-rows.ts'
import { csvOf, entriesOf } from './people.ts'
import { startOpponent } from './processes.ts'
import type { Setting } from './setting.ts'

const ROWS = 1_000_000
const PART = 1000

/** Reads a million rows and keeps none, so that the memory is that of the reading. */
export async function benchCsv(setting: Setting): Promise<Comparison[]> {
  await using dir = await tempDir()
  const task: CsvTask = { path: join(dir.path, 'users.csv'), rows: ROWS }
  await pipeline(Readable.from(parts()), createWriteStream(task.path))
  await using ours = await startOpponent('csv-rows', task, setting.profileDir)
  await using floor = await startOpponent('bare-csv', task)
  const comparison = await compare({
    id: 'csv',
    title: `${ROWS} rows of CSV`,
    floorTitle: 'csv-parse, plain',
    service: 'none',
    count: ROWS,
    ours,
    floor,
    repetitions: setting.repetitions ?? 5,
  })
  return [comparison]
}

/** The same people again and again: a parser does not mind, and making a million takes longer than reading them. */
function* parts(): Generator<string> {
  const [head = '', ...rows] = csvOf(entriesOf(PART, 0)).split('\n').slice(0, -1)
  yield `${head}\n`
  const part = rows.map((row) => `${row}\n`).join('')
  for (let done = 0; done < ROWS; done += PART) yield part
}
