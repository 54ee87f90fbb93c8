import { Client } from 'undici'
import { serveContender } from '../contender.ts'

export interface BareGetTask {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Each repetition requests the next one. */
  readonly paths: readonly string[]
}

/** One GET with undici, from the request to the last byte. */
serveContender(async ({ baseUrl, headers, paths }: BareGetTask) => {
  const http = new Client(baseUrl)
  let next = 0
  const get = async () => {
    const path = paths[next++ % paths.length]!
    const { statusCode, body } = await http.request({ path, method: 'GET', headers })
    await body.arrayBuffer()
    if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`)
  }
  // The first ones warm up.
  for (let warmUp = 0; warmUp < 10; warmUp += 1) await get()
  return { run: get, close: () => http.close() }
})
