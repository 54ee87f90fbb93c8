import { Pool } from 'undici'
import { readList } from '../bare-list.ts'
import { serveContender } from '../contender.ts'
import type { Target } from '../target.ts'

export interface BarePagingTask extends Target {
  /** Pages read at once. */
  readonly concurrency: number
}

/** The least that reading a whole list takes: undici and `JSON.parse`. */
serveContender(async (task: BarePagingTask) => {
  const http = new Pool(task.baseUrl, { connections: task.concurrency })
  return {
    async run() {
      await readList(http, task.headers, task.usersPath, task.concurrency)
    },
    close: () => http.close(),
  }
})
