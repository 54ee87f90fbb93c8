import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { serveContender } from '../contender.ts'
import type { CsvTask } from './csv-rows.ts'

/** Counts the rows of a file with csv-parse and its default options. */
serveContender(async ({ path, rows }: CsvTask) => ({
  async run() {
    let seen = 0
    await pipeline(
      createReadStream(path),
      parse({ from_line: 2 }),
      async (records: AsyncIterable<string[]>) => {
        for await (const _ of records) seen += 1
      },
    )
    if (seen !== rows) throw new Error(`${seen} rows were read`)
  },
  close: () => Promise.resolve(),
}))
