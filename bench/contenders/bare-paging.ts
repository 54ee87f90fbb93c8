import { Pool } from 'undici'
import { readList } from '../read-list.ts'
import { serveContender } from '../contender.ts'
import type { DirectoryApi } from '../directory-api.ts'

export interface BarePagingTask extends DirectoryApi {
  /** Pages read at once. */
  readonly concurrency: number
}

/** The minimum for reading a whole list: undici and `JSON.parse`. */
serveContender(async (task: BarePagingTask) => {
  const http = new Pool(task.baseUrl, { connections: task.concurrency })
  return {
    async run() {
      await readList(http, task.headers, task.usersPath, task.concurrency)
    },
    close: () => http.close(),
  }
})
