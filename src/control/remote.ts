import { Client } from 'undici'
import { DirsyncdError, type ErrorCode, networkReason, sentence, systemCode } from '../errors.ts'
import type { Control, RunSummary, RunView } from './control.ts'

/** How long a daemon may take to answer; its store may be busy with a large plan. */
const ANSWER_MS = 60_000

/** Reaches the daemon that listens on the socket; `undefined` when there is none. */
export async function openRemoteControl(socket: string): Promise<Control | undefined> {
  const client = new Client('http://dirsyncd', {
    socketPath: socket,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
  })
  if (!(await isListening(client, socket))) {
    await client.destroy()
    return undefined
  }

  async function ask(request: Parameters<Client['request']>[0]) {
    try {
      const { statusCode, body } = await client.request(request)
      return { statusCode, json: await body.json() }
    } catch (error) {
      throw unreachable(error)
    }
  }

  async function call<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const { statusCode, json } = await ask({
      method,
      path,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    if (statusCode < 300) return json as T
    const { code, message } = json as { code: ErrorCode; message: string }
    throw new DirsyncdError(code, message)
  }

  return {
    requestRun: async (request) => (await call<{ run: number }>('POST', '/runs', request)).run,
    run: async (number, detail) => {
      try {
        return await call<RunView>('GET', `/runs/${number}?limit=${detail?.limit ?? 1000}`)
      } catch (error) {
        if (error instanceof DirsyncdError && error.code === 'run-unknown') return undefined
        throw error
      }
    },
    runs: ({ sync, limit }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(sync !== undefined && { sync }) })
      return call<readonly RunSummary[]>('GET', `/runs?${query.toString()}`)
    },
    approve: (run, by) => call<RunSummary>('POST', `/runs/${run}/approve`, { by }),
    reject: (run, by) => call<RunSummary>('POST', `/runs/${run}/reject`, { by }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** A socket without a daemon behind it refuses, or is not there. */
async function isListening(client: Client, socket: string): Promise<boolean> {
  try {
    const { body } = await client.request({ method: 'GET', path: '/healthz' })
    await body.dump()
    return true
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false
    if (code === 'EACCES') {
      throw new DirsyncdError(
        'daemon-unreachable',
        `The daemon's socket ${socket} belongs to another user; run the command as the user that the daemon runs as.`,
        { cause: error },
      )
    }
    throw unreachable(error)
  }
}

function unreachable(error: unknown): DirsyncdError {
  return new DirsyncdError(
    'daemon-unreachable',
    `The daemon does not answer on its socket (${networkReason(error) ?? sentence(error)}); see its log. ` +
      'What it was asked for goes on when it runs again.',
    { cause: error },
  )
}
