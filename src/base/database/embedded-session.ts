import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'

/**
 * PGlite's one session, shared by many clients. A batch of messages (what a client sends until it waits for
 * ReadyForQuery) runs alone; a client that leaves a transaction open keeps the session until a batch closes it.
 * ReadyForQuery carries that state, so no SQL is parsed.
 *
 * Session state is shared: settings, prepared statements, UNLISTEN. Nothing here names a statement or unlistens; a
 * client that listens gets the notifications of every channel that any client listens on.
 */
export class Session {
  readonly #database: PGlite
  readonly #line: { client: SessionStream; go: () => void }[] = []
  readonly #listeners = new Set<SessionStream>()
  #holder: SessionStream | 'rollback' | undefined
  #running = false

  constructor(database: PGlite) {
    this.#database = database
  }

  /** Resolves with the server's whole answer. */
  async run(client: SessionStream, batch: Buffer): Promise<Buffer> {
    await this.#takeTurn(client)
    this.#running = true
    let status = IDLE
    try {
      // PGlite works synchronously: without a pause a long queue of queries would delay timers and sockets.
      await nextTurn()
      const answer = client.destroyed ? Buffer.alloc(0) : await exchange(this.#database, batch)
      status = this.#hear(client, answer) ?? status
      return answer
    } finally {
      this.#running = false
      if (status === IDLE) this.#endTurn()
      else if (client.destroyed) await this.rollBack(client)
    }
  }

  async rollBack(client: SessionStream): Promise<void> {
    if (this.#holder !== client || this.#running) return
    this.#holder = 'rollback'
    try {
      await exchange(this.#database, ROLLBACK)
    } finally {
      this.#endTurn()
    }
  }

  /** Rolls back, and sends no more notifications to the client. */
  async leave(client: SessionStream): Promise<void> {
    this.#listeners.delete(client)
    await this.rollBack(client)
  }

  async #takeTurn(client: SessionStream): Promise<void> {
    if (this.#holder === client) return
    if (this.#holder !== undefined) return new Promise((go) => this.#line.push({ client, go }))
    this.#holder = client
  }

  /** Passes the session on at once, or a newcomer would slip in between. */
  #endTurn(): void {
    const next = this.#line.shift()
    this.#holder = next?.client
    next?.go()
  }

  /** Forwards notifications to the listeners, and returns the state of the transaction. */
  #hear(client: SessionStream, answer: Buffer): string | undefined {
    const { status, notifications, listens } = readAnswer(answer)
    if (listens) this.#listeners.add(client)
    if (notifications.length === 0) return status
    for (const listener of this.#listeners)
      if (listener !== client) listener.push(Buffer.concat(notifications))
    return status
  }
}

async function exchange(database: PGlite, batch: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = []
  await database.runExclusive(() =>
    database.execProtocolRawStream(batch, {
      // The bytes are a view into memory that the next call overwrites.
      onRawData: (bytes) => chunks.push(Buffer.from(bytes)),
    }),
  )
  return Buffer.concat(chunks)
}

/**
 * The socket of one pg client. Answers the startup itself, because there is nothing to negotiate; the session answers
 * the rest. pg corks messages that belong together, so one write is one batch.
 */
export class SessionStream extends Duplex {
  readonly #session: Session
  #started = false

  constructor(session: Session) {
    super()
    this.#session = session
  }

  connect(): void {
    process.nextTick(() => this.emit('connect'))
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  rollBack(): Promise<void> {
    return this.#session.rollBack(this)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#handle(chunk).then(() => done(), done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer', done)
  }

  async #handle(batch: Buffer): Promise<void> {
    if (!this.#started) {
      this.#started = true
      this.push(WELCOME)
      return
    }
    if (batch[0] === TERMINATE) return
    const answer = await this.#session.run(this, batch)
    if (!this.destroyed) this.push(answer)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#session.leave(this).then(
      () => done(error),
      () => done(error),
    )
  }
}

const IDLE = 'I'
const TERMINATE = 'X'.charCodeAt(0)
const ROLLBACK = message('Q', Buffer.from('rollback\0'))
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from(IDLE))])

/** A letter, the length without the letter, the body. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

type Answer = { status: string | undefined; notifications: Buffer[]; listens: boolean }

function readAnswer(answer: Buffer): Answer {
  const found: Answer = { status: undefined, notifications: [], listens: false }
  let next = 0
  for (let at = 0; at < answer.length; at = next) {
    next = at + 1 + answer.readInt32BE(at + 1)
    const type = String.fromCharCode(answer[at] ?? 0)
    if (type === 'Z') found.status = String.fromCharCode(answer[at + 5] ?? 0)
    else if (type === 'A') found.notifications.push(answer.subarray(at, next))
    else if (type === 'C' && answer.toString('latin1', at + 5, next - 1) === 'LISTEN') found.listens = true
  }
  return found
}
