import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { serveContender } from '../contender.ts'
import { entriesOf } from '../people.ts'
import type { DirectoryApi } from '../services.ts'

export interface BarePostingTask extends DirectoryApi {
  readonly people: number
  /** Concurrent requests. */
  readonly concurrency: number
  /** Users that one request creates. */
  readonly perRequest: number
  /** The most requests in a second, evenly spaced. Without it, as many as the service answers. */
  readonly perSecond?: number | undefined
}

/** Only the POSTs, with undici. */
serveContender(async (task: BarePostingTask) => {
  const http = new Pool(task.baseUrl, { connections: task.concurrency })
  const headers = { ...task.headers, 'content-type': 'application/x-www-form-urlencoded' }
  const { users } = entriesOf(task.people)
  const bodies: string[] = []
  for (let start = 0; start < users.length; start += task.perRequest) {
    const form = new URLSearchParams()
    for (const user of users.slice(start, start + task.perRequest)) {
      for (const [name, value] of Object.entries(user)) form.append(`users[][${name}]`, value)
    }
    bodies.push(form.toString())
  }
  const post = async (body: string) => {
    const answer = await http.request({ path: task.usersPath, method: 'POST', headers, body })
    await answer.body.dump()
    if (answer.statusCode !== 201) throw new Error(`POST was answered with ${answer.statusCode}`)
  }
  return {
    async run() {
      let next = 0
      const start = performance.now()
      const poster = async () => {
        for (let number = next++; number < bodies.length; number = next++) {
          if (task.perSecond !== undefined) await sleepUntil(start + (number * 1000) / task.perSecond)
          await post(bodies[number]!)
        }
      }
      await Promise.all(Array.from({ length: task.concurrency }, poster))
    },
    close: () => http.close(),
  }
})

async function sleepUntil(moment: number): Promise<void> {
  const ms = moment - performance.now()
  if (ms > 0) await sleep(ms)
}
