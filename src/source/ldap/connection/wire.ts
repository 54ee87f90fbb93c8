import type { Socket } from 'node:net'
import type { Message } from 'ldapts'
import { DirsyncdError, type ErrorCode, networkReason, sentence } from '../../../errors.ts'
import { interruption } from '../../interruption.ts'
import { createFramer } from './frames.ts'
import { certificateDemand } from './tls-problem.ts'
import { type Answer, decodeAnswer, type LdapEntry, type LdapResult } from './message.ts'

/** What is being done, for the sentence of an error, and the code of that error. */
export interface Doing {
  readonly code: ErrorCode
  /** "reading the users below …" */
  readonly what: string
  /** Bounds the whole exchange, by this one of the `timeouts`; without it only silence is bounded. */
  readonly within?: { readonly ms: number; readonly option: string }
}

export interface Patience {
  /** Milliseconds until the first byte of an answer. */
  readonly firstAnswerMs: number
  /** Milliseconds of silence in the middle of one. */
  readonly answerMs: number
}

/** A connection that can be used, and what a person may think of where it is lost before anything was answered. */
export interface Line {
  readonly socket: Socket
  readonly ifLost?: string | undefined
}

interface Listener {
  readonly onEntry: (entry: LdapEntry) => void
  readonly onReference: () => void
}

/**
 * One connection, one request at a time, from the first byte to the last. When it is lost, silent for too long, not
 * LDAP or aborted, it stays so: every later request fails with the same reason. It never connects again, because a new
 * connection would be an anonymous one, and anonymous readers are shown less without being told.
 */
export interface Wire {
  /** Sends the request and resolves with its result, whatever its code. Rejects with a `DirsyncdError`. */
  exchange(build: (messageId: number) => Message, doing: Doing, listener?: Listener): Promise<LdapResult>
  /** Goes on over another socket, after StartTLS. */
  moveTo(line: Line): void
  /**
   * Stops listening and returns the socket, so that TLS can take it over. Throws a `DirsyncdError` when the server has
   * already sent more in the clear, which whoever is in between could have written.
   */
  release(doing: Doing): Socket
  /** Sends a last message, if there is one, and closes. */
  close(goodbye?: (messageId: number) => Message): void
}

interface Pending {
  readonly messageId: number
  readonly doing: Doing
  readonly listener: Listener | undefined
  begun: boolean
  timer: NodeJS.Timeout
  readonly resolve: (result: LdapResult) => void
  readonly reject: (error: unknown) => void
}

type Failure = (doing: Doing) => unknown

/** ldapts' own client reconnects by itself and can hang for ever; only its codec is used here. */
export function createWire(first: Line, url: string, patience: Patience, signal: AbortSignal): Wire {
  let { socket, ifLost } = first
  let framer = createFramer()
  let pending: Pending | undefined
  let failure: Failure | undefined
  let lastId = 0

  function fail(reason: Failure): void {
    failure ??= reason
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
    const waiting = settle()
    waiting?.reject(failure(waiting.doing))
  }

  function settle(): Pending | undefined {
    const settled = pending
    pending = undefined
    if (settled !== undefined) clearTimeout(settled.timer)
    return settled
  }

  function lost(why: string, cause?: unknown, hint?: string): void {
    const more = hint === undefined ? '' : ` (${hint})`
    fail((doing) => new DirsyncdError(doing.code, `${url}: ${why} while ${doing.what}${more}`, { cause }))
  }

  function alarm(ms: number, option: string): NodeJS.Timeout {
    return setTimeout(() => {
      const what = pending?.begun === true && option !== 'answer' ? 'no whole answer' : 'nothing'
      lost(`${what} arrived for ${ms / 1000} s`, undefined, `timeouts.${option}`)
    }, ms)
  }

  /** Something arrived, so the wait is for what follows; a wait with a bound of its own is not made longer. */
  function heard(waiting: Pending): void {
    const { begun, doing } = waiting
    waiting.begun = true
    if (doing.within !== undefined) return
    if (begun) return void waiting.timer.refresh()
    clearTimeout(waiting.timer)
    waiting.timer = alarm(patience.answerMs, 'answer')
  }

  function onAbort(): void {
    fail((doing) => interruption(signal, `${url}: interrupted while ${doing.what}`))
  }

  function onData(chunk: Buffer): void {
    if (pending !== undefined) heard(pending)
    try {
      for (const message of framer.push(chunk)) take(decodeAnswer(message))
    } catch (error) {
      if (error instanceof DirsyncdError) fail(() => error)
      else lost(sentence(error), error)
    }
  }

  function take(answer: Answer): void {
    if (failure !== undefined) return
    ifLost = undefined
    if (answer.messageId === 0 && answer.type === 'result') {
      const said = answer.result.diagnostic === '' ? '' : ` ("${answer.result.diagnostic}")`
      return lost(`the server announced that it ends the connection${said}`)
    }
    if (pending === undefined || answer.messageId !== pending.messageId)
      throw new Error('an answer to nothing arrived')
    if (answer.type === 'entry') pending.listener?.onEntry(answer.entry)
    else if (answer.type === 'reference') pending.listener?.onReference()
    else settle()?.resolve(answer.result)
  }

  const onEnd = () => lost('the connection was lost', undefined, ifLost)

  function onError(error: Error): void {
    const demand = certificateDemand(error)
    if (demand === undefined)
      return lost(`the connection was lost (${networkReason(error) ?? error.message})`, error, ifLost)
    fail(() => new DirsyncdError('source-refused', `${url} refused TLS: ${demand}`))
  }

  function listen(): void {
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError)
  }

  function deafen(): void {
    socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError)
  }

  listen()
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  return {
    exchange(build, doing, listener) {
      const messageId = (lastId += 1)
      return new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure(doing))
        const { ms, option } = doing.within ?? { ms: patience.firstAnswerMs, option: 'firstAnswer' }
        const timer = alarm(ms, option)
        pending = { messageId, doing, listener, begun: false, timer, resolve, reject }
        socket.write(build(messageId).write())
      })
    },
    moveTo(next) {
      socket = next.socket
      ifLost = next.ifLost
      framer = createFramer()
      listen()
    },
    release(doing) {
      if (framer.partial) lost('half a message arrived before TLS began')
      if (failure !== undefined) throw failure(doing)
      deafen()
      return socket.on('error', () => undefined)
    },
    close(goodbye) {
      signal.removeEventListener('abort', onAbort)
      deafen()
      settle()
      socket.on('error', () => undefined)
      if (failure !== undefined) return
      failure = (doing) => new DirsyncdError(doing.code, `${url}: the connection is closed`)
      if (goodbye !== undefined) socket.end(goodbye(lastId + 1).write())
      socket.destroySoon()
    },
  }
}
