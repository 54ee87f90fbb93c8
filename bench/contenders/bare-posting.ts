import { Pool } from 'undici'
import { serveContender } from '../contender.ts'
import { entriesOf } from '../people.ts'
import type { DirectoryApi } from '../directory-api.ts'

export interface BarePostingTask extends DirectoryApi {
  readonly people: number
  /** Concurrent requests. */
  readonly concurrency: number
}

/** Only one POST for each user, with undici. */
serveContender(async (task: BarePostingTask) => {
  const http = new Pool(task.baseUrl, { connections: task.concurrency })
  const headers = { ...task.headers, 'content-type': 'application/x-www-form-urlencoded' }
  const bodies = entriesOf(task.people, 0).users.map((user) => {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(user)) form.append(`users[][${name}]`, value)
    return form.toString()
  })
  const post = async (body: string) => {
    const answer = await http.request({ path: task.usersPath, method: 'POST', headers, body })
    await answer.body.dump()
    if (answer.statusCode !== 201) throw new Error(`POST was answered with ${answer.statusCode}`)
  }
  return {
    async run() {
      let next = 0
      const poster = async () => {
        for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await post(body)
      }
      await Promise.all(Array.from({ length: task.concurrency }, poster))
    },
    close: () => http.close(),
  }
})
