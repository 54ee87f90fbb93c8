import type { Socket } from 'node:net'
import { Ber, BerReader, BerWriter, ProtocolOperation } from 'ldapts'
import { startTcpRelay } from './tcp-relay.ts'

/**
 * What the proxy does to a server's answers. Pages are counted from 1 over the searches of one connection, without those
 * for what the server says about itself; entries from 1 within their page.
 */
export type Evil =
  | { readonly kind: 'none' }
  /** Ends the connection in the middle of this entry's bytes. */
  | { readonly kind: 'cut'; readonly page: number; readonly entry: number }
  /** Ends the connection politely (FIN) between two messages. */
  | { readonly kind: 'hang-up'; readonly page: number; readonly entry: number }
  /** Sends nothing any more, and keeps the connection. */
  | { readonly kind: 'stall'; readonly page: number; readonly entry: number }
  /** Ends the page with another result, such as 51 (busy). */
  | { readonly kind: 'result'; readonly page: number; readonly code: number }
  /** Ends the last page with a cookie still set; what then comes goes to the server, or the connection ends. */
  | { readonly kind: 'left-over-cookie'; readonly after: 'forward' | 'hang-up' }
  /** Answers this search with no entry and a cookie, and goes on when it is asked with it. */
  | { readonly kind: 'empty-page'; readonly page: number }
  /** Answers every search like that, for ever. */
  | { readonly kind: 'empty-pages' }
  /** Leaves the paged results control out of this page's end. */
  | { readonly kind: 'no-control'; readonly page: number }
  /** Answers this search once more with what the first page was, by asking the server without the cookie. */
  | { readonly kind: 'restart'; readonly page: number }
  /** Says nothing once StartTLS was agreed to. */
  | { readonly kind: 'stall-tls' }
  /** Does this when the server has sent so many bytes within TLS, which the proxy cannot look into. */
  | { readonly kind: 'within-tls'; readonly bytes: number; readonly does: 'stall' | 'cut' }
  /** Announces the end of the connection (RFC 4511, 4.4.1) instead of this page. */
  | { readonly kind: 'notice'; readonly page: number }
  /** Does this instead of answering a request that makes the connection ready. */
  | { readonly kind: 'at'; readonly step: Step; readonly does: Deed }
  /** Calls this when the page is asked for, and goes on. */
  | { readonly kind: 'call'; readonly page: number; readonly call: () => void }

/** Which request; the order in which they are made. */
export type Step = 'starttls' | 'bind' | 'root' | 'who-am-i'

/** Says nothing, ends the connection, announces its end, or answers with this result and nothing else. */
export type Deed = 'stall' | 'cut' | 'notice' | number

export interface LdapProxy extends AsyncDisposable {
  readonly url: string
  /** What the next connections get, behind as many as are `spared`. */
  setEvil(evil: Evil, spared?: number): void
  /** How many connections were made so far. */
  readonly connections: number
  /** How many of them asked to bind. */
  readonly binds: number
}

const OUR_COOKIE = Buffer.from('proxy-cookie')
const PAGING = '1.2.840.113556.1.4.319'
/** The first byte of a connection that begins with TLS. */
const TLS_HANDSHAKE = 0x16

/** A proxy before an LDAP server on this port of 127.0.0.1; that of ldaps:// too. */
export async function startLdapProxy(targetPort: number): Promise<LdapProxy> {
  const state = { evil: { kind: 'none' } as Evil, spared: 0, connections: 0, binds: 0 }
  const target = { host: '127.0.0.1', port: targetPort }
  const server = await startTcpRelay(target, { host: '127.0.0.1', port: 0 }, (client, upstream) => {
    state.connections += 1
    const evil: Evil = state.connections > state.spared ? state.evil : { kind: 'none' }
    relay(client, upstream, evil, () => {
      state.binds += 1
    })
  })
  return {
    url: `ldap://127.0.0.1:${server.port}`,
    setEvil(evil, spared = 0) {
      state.evil = evil
      state.spared = state.connections + spared
    },
    get connections() {
      return state.connections
    },
    get binds() {
      return state.binds
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

interface Frame {
  readonly id: number
  readonly operation: number
  readonly bytes: Buffer
}

function relay(client: Socket, target: Socket, evil: Evil, onBind: () => void): void {
  let page = 0
  let entry = 0
  let silent = false
  let startingTls = false
  let opaque = false
  let opaqueBytes = 0
  let first: Buffer | undefined
  let heldBack: Buffer | undefined

  onFrames(client, target, (frame) => {
    if (frame.operation === ProtocolOperation.LDAP_REQ_BIND) onBind()
    const step = stepOf(frame)
    startingTls = step === 'starttls'
    if (evil.kind === 'at' && evil.step === step) return interfere(client, frame, step, evil.does)
    if (frame.operation !== ProtocolOperation.LDAP_REQ_SEARCH || readsRootDse(frame))
      return void target.write(frame.bytes)
    page += 1
    entry = 0
    if (evil.kind === 'call' && page === evil.page) evil.call()
    first ??= frame.bytes
    const emptied = evil.kind === 'empty-pages' || (evil.kind === 'empty-page' && page === evil.page)
    if (emptied) {
      heldBack = frame.bytes
      return void client.write(searchDone(frame.id, 0, OUR_COOKIE))
    }
    if (evil.kind === 'notice' && page === evil.page) return void client.write(noticeOfDisconnection())
    const ours = frame.bytes.includes(OUR_COOKIE)
    if (evil.kind === 'left-over-cookie' && evil.after === 'hang-up' && ours) return void client.end()
    if (evil.kind === 'restart' && page === evil.page) return void target.write(withId(first, frame.id))
    target.write(ours && heldBack !== undefined ? withId(heldBack, frame.id) : frame.bytes)
  })

  onFrames(target, client, (frame) => {
    opaque = startingTls
    if (frame.operation === ProtocolOperation.LDAP_RES_SEARCH_ENTRY) entry += 1
    if (evil.kind === 'stall-tls' && frame.operation === ProtocolOperation.LDAP_RES_EXTENSION) silent = true
    if ('entry' in evil && page === evil.page && entry === evil.entry) {
      silent = true
      if (evil.kind === 'hang-up') return void client.end()
      if (evil.kind === 'cut')
        client.write(frame.bytes.subarray(0, frame.bytes.length / 2), () => client.destroy())
      return
    }
    const done = frame.operation === ProtocolOperation.LDAP_RES_SEARCH
    client.write(done ? endOfPage(frame, page, evil) : frame.bytes)
  })

  function endOfPage(frame: Frame, at: number, what: Evil): Buffer {
    if (what.kind === 'result' && at === what.page) return searchDone(frame.id, what.code, Buffer.alloc(0))
    if (what.kind === 'no-control' && at === what.page) return searchDone(frame.id, 0, undefined)
    // The server's last page is the one whose cookie is empty: the control's value then ends with a zero length.
    const last =
      frame.bytes.includes(Buffer.from(PAGING)) && frame.bytes.at(-1) === 0 && frame.bytes.at(-2) === 4
    return what.kind === 'left-over-cookie' && last ? searchDone(frame.id, 0, OUR_COOKIE) : frame.bytes
  }

  function passOn(chunk: Buffer, to: Socket): void {
    if (to === client) opaqueBytes += chunk.length
    if (evil.kind !== 'within-tls' || opaqueBytes < evil.bytes) return void to.write(chunk)
    silent = true
    if (evil.does === 'cut') client.destroy()
  }

  /** Once silent, what comes may be TLS and is not looked at; behind StartTLS it is handed on as it is. */
  function onFrames(socket: Socket, other: Socket, take: (frame: Frame) => void): void {
    let held = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      if (chunk[0] === TLS_HANDSHAKE && held.length === 0) opaque = true
      if (opaque && !silent) return passOn(chunk, other)
      held = Buffer.concat([held, chunk])
      for (;;) {
        const length = frameLength(held)
        if (silent || length === 0 || held.length < length) return
        const bytes = held.subarray(0, length)
        held = held.subarray(length)
        take(parseFrame(bytes))
      }
    })
  }
}

function frameLength(bytes: Buffer): number {
  const first = bytes[1]
  if (first === undefined) return 0
  if (first < 0x80) return 2 + first
  const size = first & 0x7f
  return bytes.length < 2 + size ? 0 : 2 + size + bytes.readUIntBE(2, size)
}

function parseFrame(bytes: Buffer): Frame {
  const reader = new BerReader(bytes)
  reader.readSequence()
  return { id: reader.readInt() ?? 0, operation: reader.readSequence() ?? 0, bytes }
}

function stepOf(frame: Frame): Step | undefined {
  const { LDAP_REQ_BIND, LDAP_REQ_EXTENSION, LDAP_REQ_SEARCH } = ProtocolOperation
  if (frame.operation === LDAP_REQ_BIND) return 'bind'
  if (frame.operation === LDAP_REQ_SEARCH) return readsRootDse(frame) ? 'root' : undefined
  if (frame.operation !== LDAP_REQ_EXTENSION) return undefined
  return frame.bytes.includes('1.3.6.1.4.1.1466.20037') ? 'starttls' : 'who-am-i'
}

function interfere(client: Socket, { id }: Frame, step: Step, does: Deed): void {
  if (does === 'stall') return
  if (does === 'cut') return void client.destroy()
  if (does === 'notice') return void client.write(noticeOfDisconnection())
  const { LDAP_RES_BIND, LDAP_RES_EXTENSION, LDAP_RES_SEARCH } = ProtocolOperation
  const operation = step === 'bind' ? LDAP_RES_BIND : step === 'root' ? LDAP_RES_SEARCH : LDAP_RES_EXTENSION
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writeResult(writer, operation, does)
  writer.endSequence()
  writer.endSequence()
  client.write(writer.buffer)
}

/** The root DSE is the entry with the empty name, and is read by itself. */
function readsRootDse({ bytes }: Frame): boolean {
  const reader = new BerReader(bytes)
  reader.readSequence()
  reader.readInt()
  reader.readSequence()
  return reader.readString() === '' && reader.readEnumeration() === 0
}

function searchDone(id: number, code: number, cookie: Buffer | undefined): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writeResult(writer, ProtocolOperation.LDAP_RES_SEARCH, code)
  writer.endSequence()
  if (cookie !== undefined) {
    writer.startSequence(ProtocolOperation.LDAP_CONTROLS)
    writer.startSequence()
    writer.writeString(PAGING)
    writer.writeBuffer(pagingValue(0, cookie), Ber.OctetString)
    writer.endSequence()
    writer.endSequence()
  }
  writer.endSequence()
  return writer.buffer
}

function noticeOfDisconnection(): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(0)
  writeResult(writer, ProtocolOperation.LDAP_RES_EXTENSION, 52, 'going down for maintenance')
  writer.writeString('1.3.6.1.4.1.1466.20036', 0x8a)
  writer.endSequence()
  writer.endSequence()
  return writer.buffer
}

/** Leaves the operation open for more. */
function writeResult(writer: BerWriter, operation: number, code: number, diagnostic = ''): void {
  writer.startSequence(operation)
  writer.writeEnumeration(code)
  writer.writeString('')
  writer.writeString(diagnostic)
}

function pagingValue(size: number, cookie: Buffer): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(size)
  writer.writeBuffer(cookie, Ber.OctetString)
  writer.endSequence()
  return writer.buffer
}

/** The same request with another message id. */
function withId(bytes: Buffer, id: number): Buffer {
  const reader = new BerReader(bytes)
  reader.readSequence()
  reader.readInt()
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  for (const byte of bytes.subarray(reader.offset)) writer.writeByte(byte)
  writer.endSequence()
  return writer.buffer
}
