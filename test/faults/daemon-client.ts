import type { Notice } from '../../src/core/notice.ts'
import type { StoredBlock } from '../../src/store/run-types.ts'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { socketPath } from '../../src/base/socket/socket.ts'
import { type After, parts } from '../../src/operations/parts.ts'
import { PATIENCE } from '../support/patience.ts'

type Numbered = { readonly number: number }

/** What the suite reads of a run, as `dirsyncd runs --json` shows it. */
export interface RunJson {
  readonly run: number
  readonly mode: string
  readonly state: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly error: string | null
  readonly waitsUntil: { readonly at: string; readonly why: string } | null
  readonly questions: number
  readonly blocks: readonly StoredBlock[]
  readonly counts: {
    readonly sourceUsers: number
    readonly sourceGroups: number
    readonly unchanged: number
    readonly planned: Readonly<Record<string, number>>
    readonly outcomes: Readonly<Record<string, number>>
    readonly notices: Readonly<Record<string, number>>
  } | null
}

export interface RunDetails extends RunJson {
  readonly changes: readonly {
    readonly change: { readonly op: string; readonly id: string }
    readonly state: string
  }[]
  readonly notices: readonly Notice[]
}

/** The socket on which a daemon takes commands. */
export class DaemonClient {
  readonly #socket: string

  constructor(dataDir: string) {
    this.#socket = socketPath(dataDir)
  }

  async isUp(): Promise<boolean> {
    return this.#ask('GET', '/healthz', undefined, 2000).then(
      () => true,
      () => false,
    )
  }

  requestRun(): Promise<number> {
    return this.#call('requestRun', { sync: 'corp', mode: 'sync' })
  }

  runs(): Promise<readonly RunJson[]> {
    return this.#call('runs', { limit: 1000 })
  }

  async run(number: number): Promise<RunDetails> {
    const run = await this.#call<RunDetails>('run', number, { limit: 0 })
    const changes = await this.#all<RunDetails['changes'][number]>('changes', number)
    return { ...run, changes, notices: await this.#all('notices', number) }
  }

  async #all<T>(operation: string, run: number): Promise<readonly T[]> {
    const all: T[] = []
    const read = (place: After) => this.#call<(T & Numbered)[]>(operation, run, place)
    for await (const some of parts(read)) all.push(...some)
    return all
  }

  async #call<T>(operation: string, ...input: readonly unknown[]): Promise<T> {
    return ((await this.#ask('POST', '/call', { operation, input })) as { answer: T }).answer
  }

  async #ask(method: string, path: string, body?: object, ms: number = PATIENCE.timeout): Promise<unknown> {
    const signal = AbortSignal.timeout(ms)
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request({ socketPath: this.#socket, method, path, headers, signal })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [answer] = (await once(sent, 'response', { signal })) as [IncomingMessage]
    const answered = await text(answer)
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${answered}`)
    return JSON.parse(answered)
  }
}
