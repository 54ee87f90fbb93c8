import type { Socket } from 'node:net'
import { ExtendedRequest, type Message, SearchRequest } from 'ldapts'
import { DirsyncdError, type ErrorCode, networkReason, sentence } from '../../../base/errors.ts'
import { interruption } from '../../interruption.ts'
import type { LdapEntry } from '../entry.ts'
import { createFramer, type Framer } from './frames.ts'
import { resultName } from './result.ts'
import { certificateDemand } from './tls-problem.ts'
import { type Answer, createAnswerDecoder, type LdapResult, type SentEntry } from './message.ts'

/** For the sentence and the code of an error. */
export interface Doing {
  readonly code: ErrorCode
  /** "reading the users below …" */
  readonly what: string
  /** Bounds the whole exchange, by this one of the `timeouts`; without it only silence is bounded. */
  readonly within?: { readonly ms: number; readonly option: string }
}

export interface Patience {
  readonly firstAnswerMs: number
  /** Milliseconds of silence within an answer. */
  readonly answerMs: number
  /** Milliseconds from the connection to its end: single bytes end a silence, but not this. */
  readonly readMs: number
}

/** A usable connection, with a hint for a loss before the first answer. */
export interface Line {
  readonly socket: Socket
  readonly ifLost?: string | undefined
}

interface Listener {
  /** To be decoded by `Wire.decode`. */
  readonly onEntry: (entry: SentEntry) => void
  /** The URLs of one reference are equivalent servers. */
  readonly onReference: (urls: readonly string[]) => void
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

/** The result's name in RFC 4511, or `none` without an answer. */
export type OnResult = (operation: 'bind' | 'search' | 'extended', result: string) => void

/** The server broke the connection, fell silent or sent what is not LDAP; another server may work. */
export class ConnectionLost extends DirsyncdError {}

/**
 * One connection, one request at a time. When it is lost, silent for too long, not LDAP or aborted, it stays so: every
 * later request fails with the same reason. It never reconnects, because a new connection would be anonymous, and
 * servers silently show less to anonymous clients.
 *
 * ldapts' own client reconnects by itself and can hang for ever; only its codec is used here.
 */
export class Wire {
  readonly #url: string
  readonly #patience: Patience
  readonly #signal: AbortSignal
  readonly #deadline: NodeJS.Timeout
  #socket: Socket
  #ifLost: string | undefined
  #framer: Framer
  #pending: Pending | undefined
  #failure: Failure | undefined
  readonly #onResult: OnResult | undefined
  #lastId = 0
  #chunks = 0

  constructor(line: Line, url: string, patience: Patience, signal: AbortSignal, onResult?: OnResult) {
    this.#url = url
    this.#patience = patience
    this.#signal = signal
    this.#onResult = onResult
    this.#socket = line.socket
    this.#ifLost = line.ifLost
    this.#framer = this.#createFramer()
    this.#listen()
    this.#deadline = setTimeout(this.#onDeadline, patience.readMs)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
  }

  /** Resolves with the result, whatever its code. Rejects with a `DirsyncdError`. */
  async exchange(
    build: (messageId: number) => Message,
    doing: Doing,
    listener?: Listener,
  ): Promise<LdapResult> {
    if (this.#failure !== undefined) throw this.#failure(doing)
    const messageId = (this.#lastId += 1)
    const message = build(messageId)
    const operation = operationOf(message)
    try {
      const result = await this.#send(message, doing, listener)
      this.#onResult?.(operation, resultName(result.code))
      return result
    } catch (error) {
      this.#onResult?.(operation, 'none')
      throw error
    }
  }

  #send(message: Message, doing: Doing, listener: Listener | undefined): Promise<LdapResult> {
    const { messageId } = message
    return new Promise((resolve, reject) => {
      const { ms, option } = doing.within ?? { ms: this.#patience.firstAnswerMs, option: 'firstAnswer' }
      const timer = this.#startTimer(ms, option)
      this.#pending = { messageId, doing, listener, begun: false, timer, resolve, reject }
      this.#socket.write(message.write())
    })
  }

  /** Ends the connection and throws a `ConnectionLost` where the entry is broken. */
  decode(entry: SentEntry, doing: Doing): LdapEntry {
    try {
      return entry.decode()
    } catch (error) {
      this.#lose(sentence(error), error)
      throw this.#lost(`${sentence(error)} while ${doing.what}`, doing, error)
    }
  }

  moveTo(line: Line): void {
    this.#socket = line.socket
    this.#ifLost = line.ifLost
    this.#framer = this.#createFramer()
    this.#listen()
  }

  /**
   * Returns the socket for TLS. Throws a `DirsyncdError` if more has come in the clear, perhaps from a man in the
   * middle.
   */
  release(doing: Doing): Socket {
    if (this.#framer.partial) this.#lose('half a message arrived before TLS began')
    if (this.#failure !== undefined) throw this.#failure(doing)
    return this.#stopListening()
  }

  close(goodbye?: (messageId: number) => Message): void {
    this.#stopWatching()
    const socket = this.#stopListening()
    this.#takePending()
    if (this.#failure !== undefined) return
    this.#failure = (doing) => new DirsyncdError(doing.code, `${this.#url}: the connection is closed`)
    if (goodbye !== undefined) socket.end(goodbye(this.#lastId + 1).write())
    socket.destroySoon()
  }

  #createFramer(): Framer {
    const decode = createAnswerDecoder()
    return createFramer((bytes, start, end) => this.#take(decode(bytes, start, end)))
  }

  #listen(): void {
    this.#socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('close', this.#onEnd)
      .on('error', this.#onError)
  }

  #stopListening(): Socket {
    return (
      this.#socket
        .off('data', this.#onData)
        .off('end', this.#onEnd)
        .off('close', this.#onEnd)
        .off('error', this.#onError)
        // Without a listener an error would end the process.
        .on('error', () => undefined)
    )
  }

  #stopWatching(): void {
    clearTimeout(this.#deadline)
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  readonly #onDeadline = (): void => {
    const why = `the whole read took longer than ${this.#patience.readMs / 1000} s`
    this.#fail(
      ({ code, what }) => new DirsyncdError(code, `${this.#url}: ${why} while ${what} (timeouts.read)`),
    )
  }

  readonly #onAbort = (): void => {
    this.#fail((doing) => interruption(this.#signal, `${this.#url}: interrupted while ${doing.what}`))
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks += 1
    if (this.#pending !== undefined) this.#waitForMore(this.#pending)
    try {
      this.#framer.push(chunk)
    } catch (error) {
      if (error instanceof DirsyncdError) this.#fail(() => error)
      else this.#lose(sentence(error), error)
    }
  }

  readonly #onEnd = (): void => this.#lose('the connection was lost', undefined, this.#ifLost)

  readonly #onError = (error: Error): void => {
    const demand = certificateDemand(error)
    if (demand !== undefined) {
      this.#fail(() => new DirsyncdError('source-refused', `${this.#url} refused TLS: ${demand}`))
      return
    }
    const reason = networkReason(error) ?? error.message
    this.#lose(`the connection was lost (${reason})`, error, this.#ifLost)
  }

  /** Restarts the silence time-out; a wait with its own bound is not extended. */
  #waitForMore(pending: Pending): void {
    const { begun, doing } = pending
    pending.begun = true
    if (doing.within !== undefined) return
    if (begun) return void pending.timer.refresh()
    clearTimeout(pending.timer)
    pending.timer = this.#startTimer(this.#patience.answerMs, 'answer')
  }

  #startTimer(ms: number, option: string): NodeJS.Timeout {
    const lose = () => {
      const what = this.#pending?.begun === true && option !== 'answer' ? 'no whole answer' : 'nothing'
      this.#lose(`${what} arrived for ${ms / 1000} s`, undefined, `timeouts.${option}`)
    }
    return setTimeout(() => {
      const [pending, chunks] = [this.#pending, this.#chunks]
      // After a blocked event loop, timers run before the arrived data is read.
      setImmediate(() => {
        if (this.#pending !== pending) return
        if (this.#chunks === chunks || pending?.doing.within !== undefined) lose()
      })
    }, ms)
  }

  #take(answer: Answer): void {
    if (this.#failure !== undefined) return
    this.#ifLost = undefined
    if (answer.messageId === 0 && answer.type === 'result') {
      const said = answer.result.diagnostic === '' ? '' : ` ("${answer.result.diagnostic}")`
      return this.#lose(`the server announced that it ends the connection${said}`)
    }
    const pending = this.#pending
    if (pending === undefined || answer.messageId !== pending.messageId)
      throw new Error('an answer to nothing arrived')
    if (answer.type === 'entry') pending.listener?.onEntry(answer.entry)
    else if (answer.type === 'reference') pending.listener?.onReference(answer.urls)
    else this.#takePending()?.resolve(answer.result)
  }

  #takePending(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) clearTimeout(pending.timer)
    return pending
  }

  #lose(why: string, cause?: unknown, hint?: string): void {
    const more = hint === undefined ? '' : ` (${hint})`
    this.#fail((doing) => this.#lost(`${why} while ${doing.what}${more}`, doing, cause))
  }

  #lost(what: string, { code }: Doing, cause: unknown): ConnectionLost {
    return new ConnectionLost(code, `${this.#url}: ${what}`, { cause })
  }

  #fail(reason: Failure): void {
    this.#failure ??= reason
    this.#stopWatching()
    this.#socket.destroy()
    const pending = this.#takePending()
    pending?.reject(this.#failure(pending.doing))
  }
}

function operationOf(message: Message): Parameters<OnResult>[0] {
  if (message instanceof SearchRequest) return 'search'
  return message instanceof ExtendedRequest ? 'extended' : 'bind'
}
