import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Client } from 'undici'
import { DirsyncdError, ERROR_CODES, type ErrorCode, networkReason, sentence, systemCode } from '../errors.ts'
import { userOf } from '../database/ownership.ts'
import { openAddress } from './socket.ts'

/** The store of the other process may be busy. */
const ANSWER_MS = 60_000

export interface SocketClient extends AsyncDisposable {
  /** Throws the `DirsyncdError` of the answer, `daemon-unreachable`, or the signal's reason. */
  call<T>(method: 'GET' | 'POST', path: string, body?: unknown, signal?: AbortSignal): Promise<T>
}

export interface SocketOptions {
  readonly who: 'daemon' | 'service'
  /** What happens to the request when the answer is lost; one sentence. */
  readonly afterLoss: string
  /** The same where it does not answer at all; `afterLoss` by default. */
  readonly whenSilent?: string
  /** Milliseconds; default a minute. */
  readonly patience?: number
}

/** `undefined` where no process listens. */
export async function connectSocket(
  socket: string,
  options: SocketOptions,
): Promise<SocketClient | undefined> {
  await using stack = new AsyncDisposableStack()
  const client = await openListening(stack, socket, options)
  if (client === undefined) return undefined
  const owned = stack.move()

  const ask = async (request: Parameters<Client['request']>[0]) => {
    try {
      const { statusCode, body } = await client.request(request)
      return { statusCode, json: await body.json() }
    } catch (error) {
      if (request.signal instanceof AbortSignal) request.signal.throwIfAborted()
      throw unreachable(error, options)
    }
  }

  return {
    async call<T>(method: 'GET' | 'POST', path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
      const { statusCode, json } = await ask({
        method,
        path,
        ...(signal !== undefined && { signal }),
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
      if (statusCode < 300) return json as T
      const { code, message } = json as { code: ErrorCode; message: string }
      // For an invalid request, the web server answers with codes of its own.
      throw new DirsyncdError(ERROR_CODES.includes(code) ? code : 'usage', message)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A socket without a process refuses, or is missing. */
async function openListening(
  stack: AsyncDisposableStack,
  socket: string,
  options: SocketOptions,
): Promise<Client | undefined> {
  const patience = options.patience ?? ANSWER_MS
  try {
    await requireTrusted(socket, options)
    const { path } = stack.use(await openAddress(socket))
    const client = new Client('http://dirsyncd', {
      socketPath: path,
      headersTimeout: patience,
      bodyTimeout: patience,
    })
    stack.defer(() => client.close())
    const { body } = await client.request({ method: 'GET', path: '/healthz' })
    await body.dump()
    return client
  } catch (error) {
    if (error instanceof DirsyncdError) throw error
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return undefined
    if (code === 'EACCES') {
      await requireOpen(socket, error)
      throw new DirsyncdError(
        'daemon-unreachable',
        `The ${options.who}'s socket ${socket} belongs to another user; run the command as the user that the ${options.who} runs as.`,
        { cause: error },
      )
    }
    throw unreachable(error, { ...options, afterLoss: options.whenSilent ?? options.afterLoss })
  }
}

/** The content of a folder closed to this user is unknown. */
async function requireOpen(socket: string, cause: unknown): Promise<void> {
  const dataDir = dirname(socket)
  const { path, uid } = await firstSeen(socket)
  if (path === socket) return
  const belongs = path === dataDir ? 'belongs' : `is in ${path}, which belongs`
  throw new DirsyncdError(
    'daemon-unreachable',
    `The data directory ${dataDir} ${belongs} to user ${await userOf(uid)}, and this user may not look into it; run the ` +
      'command as that user.',
    { cause },
  )
}

async function firstSeen(path: string): Promise<{ readonly path: string; readonly uid: number }> {
  try {
    return { path, uid: (await stat(path)).uid }
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    return firstSeen(dirname(path))
  }
}

/** In a folder that others may write, another user could listen there and answer commands. */
async function requireTrusted(socket: string, { who }: SocketOptions): Promise<void> {
  const { uid } = await stat(socket)
  const folder = dirname(socket)
  if ([process.geteuid?.(), 0, (await stat(folder)).uid].includes(uid)) return
  throw new DirsyncdError(
    'daemon-unreachable',
    `The ${who}'s socket ${socket} belongs to user number ${uid}, and not to this user, to root or to the owner of ` +
      `${folder}, so nothing was asked there. Find out who made it, and remove it.`,
  )
}

function unreachable(error: unknown, { who, afterLoss }: SocketOptions): DirsyncdError {
  return new DirsyncdError(
    'daemon-unreachable',
    `The ${who} does not answer on its socket (${networkReason(error) ?? sentence(error)}); see its log. ${afterLoss}`,
    { cause: error },
  )
}
