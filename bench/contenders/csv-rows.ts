import { readCsv } from '../../src/source/csv/read-csv.ts'
import { serveContender } from '../contender.ts'

export interface CsvTask {
  readonly path: string
  readonly rows: number
}

/** Our CSV source without the mapping: it decodes and checks every row and keeps none. */
serveContender(async ({ path, rows }: CsvTask) => ({
  async run() {
    const columns = ['id', 'mail', 'name', 'number']
    let mapped = 0
    await readCsv({ path, delimiter: ',', columns, key: 'users' }, new AbortController().signal, {
      onRow: ({ cells }) => {
        for (const column of columns) mapped += cells(column).length
      },
      onUnreadable: ({ from, fault }) => {
        throw new Error(`${from}: ${fault}`)
      },
    })
    if (mapped !== rows * columns.length) throw new Error(`${mapped} values were read`)
  },
  close: () => Promise.resolve(),
}))
