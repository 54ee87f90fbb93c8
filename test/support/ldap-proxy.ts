import type { Socket } from 'node:net'
import { Ber, BerReader, BerWriter, ProtocolOperation } from 'ldapts'
import { startTcpRelay } from './tcp-relay.ts'

/**
 * A fault that the proxy injects into one connection. `page` counts the searches of the connection from 1, without the
 * reads of the root DSE and of the server's position; `entry` counts the entries of the page from 1.
 */
export type LdapFault =
  | { readonly kind: 'none' }
  /** Closes the connection in the middle of this entry. */
  | { readonly kind: 'cut'; readonly page: number; readonly entry: number }
  /** Closes the connection with FIN before this entry. */
  | { readonly kind: 'hang-up'; readonly page: number; readonly entry: number }
  /** Sends nothing from this entry on, and keeps the connection open. */
  | { readonly kind: 'stall'; readonly page: number; readonly entry: number }
  /** Ends the page with this result code, such as 51 (busy). */
  | { readonly kind: 'result'; readonly page: number; readonly code: number }
  /** Adds a cookie to the last page; forwards the client's next request to the server, or closes the connection. */
  | { readonly kind: 'left-over-cookie'; readonly after: 'forward' | 'hang-up' }
  /** Leaves this entry out of the page. */
  | { readonly kind: 'hide'; readonly page: number; readonly entry: number }
  /** Answers this search with no entry and a cookie; a request with the cookie gets the real page. */
  | { readonly kind: 'empty-page'; readonly page: number }
  /** Answers every search with no entry and a cookie. */
  | { readonly kind: 'empty-pages' }
  /** Removes the paged results control from the end of this page. */
  | { readonly kind: 'no-control'; readonly page: number }
  /** Answers this search with the first page again, by repeating the first request at the server. */
  | { readonly kind: 'restart'; readonly page: number }
  /** Sends nothing after the server has accepted StartTLS. */
  | { readonly kind: 'stall-tls' }
  /** Stalls or cuts after `bytes` bytes of TLS records from the server, which the proxy cannot decode. */
  | { readonly kind: 'within-tls'; readonly bytes: number; readonly action: 'stall' | 'cut' }
  /** Sends a notice of disconnection (RFC 4511, 4.4.1) instead of this page. */
  | { readonly kind: 'notice'; readonly page: number }
  /** Does this instead of answering one request of the connection's setup. */
  | { readonly kind: 'at'; readonly step: Step; readonly action: FaultAction }
  /** Calls this function when the client requests the page, and forwards the request when it has ended. */
  | { readonly kind: 'call'; readonly page: number; readonly call: () => void | Promise<void> }

/**
 * A request of the connection's setup, in the order in which the client sends them; `position` comes again at the end.
 */
export type Step = 'starttls' | 'bind' | 'root' | 'who-am-i' | 'position'

/** No answer, a closed connection, a notice of disconnection, or an answer with only this result code. */
export type FaultAction = 'stall' | 'cut' | 'notice' | number

export interface LdapProxy extends AsyncDisposable {
  readonly url: string
  /** Injects the fault into new connections, after the next `healthy` connections without a fault (0 by default). */
  setFault(fault: LdapFault, healthy?: number): void
  /** How many connections the proxy has accepted so far. */
  readonly connections: number
  /** How many bind requests the proxy has received so far. */
  readonly binds: number
  /** Called with the client's connection when the proxy has begun to keep answers from it. */
  onSilence: (client: Socket) => void
}

const OUR_COOKIE = Buffer.from('proxy-cookie')
const PAGING = '1.2.840.113556.1.4.319'
/** The first byte of a connection that begins with TLS. */
const TLS_HANDSHAKE = 0x16

/** Starts a proxy for the LDAP or LDAPS server on this port. */
export async function startLdapProxy(targetPort: number, host = '127.0.0.1'): Promise<LdapProxy> {
  const state = { fault: { kind: 'none' } as LdapFault, healthyUntil: 0, connections: 0, binds: 0 }
  const target = { host, port: targetPort }
  const server = await startTcpRelay(target, { host: '127.0.0.1', port: 0 }, (client, upstream) => {
    state.connections += 1
    const fault: LdapFault = state.connections > state.healthyUntil ? state.fault : { kind: 'none' }
    relay(client, upstream, fault, {
      onBind: () => void (state.binds += 1),
      onSilence: () => proxy.onSilence(client),
    })
  })
  const proxy: LdapProxy = {
    url: `ldap://127.0.0.1:${server.port}`,
    setFault(fault, healthy = 0) {
      state.fault = fault
      state.healthyUntil = state.connections + healthy
    },
    get connections() {
      return state.connections
    },
    get binds() {
      return state.binds
    },
    onSilence: () => undefined,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return proxy
}

interface Hooks {
  readonly onBind: () => void
  readonly onSilence: () => void
}

interface Frame {
  readonly id: number
  readonly operation: number
  readonly bytes: Buffer
}

function relay(client: Socket, target: Socket, fault: LdapFault, { onBind, onSilence }: Hooks): void {
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
    if (fault.kind === 'at' && fault.step === step) {
      if (fault.action === 'stall') return onSilence()
      return act(client, frame, step, fault.action)
    }
    if (frame.operation !== ProtocolOperation.LDAP_REQ_SEARCH || readsRootDse(frame) || readsPosition(frame))
      return void target.write(frame.bytes)
    page += 1
    entry = 0
    if (fault.kind === 'call' && page === fault.page) {
      void Promise.resolve(fault.call()).then(() => target.write(frame.bytes))
      return
    }
    first ??= frame.bytes
    const emptied = fault.kind === 'empty-pages' || (fault.kind === 'empty-page' && page === fault.page)
    if (emptied) {
      heldBack = frame.bytes
      return void client.write(searchDone(frame.id, 0, OUR_COOKIE))
    }
    if (fault.kind === 'notice' && page === fault.page) return void client.write(noticeOfDisconnection())
    const ours = frame.bytes.includes(OUR_COOKIE)
    if (fault.kind === 'left-over-cookie' && fault.after === 'hang-up' && ours) return void client.end()
    if (fault.kind === 'restart' && page === fault.page) return void target.write(withId(first, frame.id))
    target.write(ours && heldBack !== undefined ? withId(heldBack, frame.id) : frame.bytes)
  })

  onFrames(target, client, (frame) => {
    opaque = startingTls
    const isEntry = frame.operation === ProtocolOperation.LDAP_RES_SEARCH_ENTRY
    if (isEntry) entry += 1
    if (fault.kind === 'stall-tls' && frame.operation === ProtocolOperation.LDAP_RES_EXTENSION) {
      silent = true
      onSilence()
    }
    if (fault.kind === 'hide' && isEntry && page === fault.page && entry === fault.entry) return
    if ('entry' in fault && fault.kind !== 'hide' && page === fault.page && entry === fault.entry) {
      silent = true
      if (fault.kind === 'stall') onSilence()
      if (fault.kind === 'hang-up') return void client.end()
      if (fault.kind === 'cut')
        client.write(frame.bytes.subarray(0, frame.bytes.length / 2), () => client.destroy())
      return
    }
    const done = frame.operation === ProtocolOperation.LDAP_RES_SEARCH
    client.write(done ? endOfPage(frame, page, fault) : frame.bytes)
  })

  function endOfPage(frame: Frame, at: number, injected: LdapFault): Buffer {
    if (injected.kind === 'result' && at === injected.page)
      return searchDone(frame.id, injected.code, Buffer.alloc(0))
    if (injected.kind === 'no-control' && at === injected.page) return searchDone(frame.id, 0, undefined)
    // The cookie of the last page is empty, so the control ends with an octet string of length 0.
    const last =
      frame.bytes.includes(Buffer.from(PAGING)) && frame.bytes.at(-1) === 0 && frame.bytes.at(-2) === 4
    return injected.kind === 'left-over-cookie' && last ? searchDone(frame.id, 0, OUR_COOKIE) : frame.bytes
  }

  function forwardTls(chunk: Buffer, to: Socket): void {
    if (to === client) opaqueBytes += chunk.length
    if (fault.kind !== 'within-tls' || opaqueBytes < fault.bytes) return void to.write(chunk)
    silent = true
    if (fault.action === 'cut') client.destroy()
    else onSilence()
  }

  /** Forwards TLS bytes undecoded. After a stall or a cut it decodes nothing, because the bytes may be TLS. */
  function onFrames(socket: Socket, other: Socket, take: (frame: Frame) => void): void {
    let held = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      if (chunk[0] === TLS_HANDSHAKE && held.length === 0) opaque = true
      if (opaque && !silent) return forwardTls(chunk, other)
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
  if (frame.operation === LDAP_REQ_SEARCH)
    return readsRootDse(frame) ? 'root' : readsPosition(frame) ? 'position' : undefined
  if (frame.operation !== LDAP_REQ_EXTENSION) return undefined
  return frame.bytes.includes('1.3.6.1.4.1.1466.20037') ? 'starttls' : 'who-am-i'
}

function act(client: Socket, { id }: Frame, step: Step, action: Exclude<FaultAction, 'stall'>): void {
  if (action === 'cut') return void client.destroy()
  if (action === 'notice') return void client.write(noticeOfDisconnection())
  const { LDAP_RES_BIND, LDAP_RES_EXTENSION, LDAP_RES_SEARCH } = ProtocolOperation
  const isSearch = step === 'root' || step === 'position'
  const operation = step === 'bind' ? LDAP_RES_BIND : isSearch ? LDAP_RES_SEARCH : LDAP_RES_EXTENSION
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writeResult(writer, operation, action)
  writer.endSequence()
  writer.endSequence()
  client.write(writer.buffer)
}

/** The root DSE is the entry with the empty DN, read with the scope `base`. */
function readsRootDse({ bytes }: Frame): boolean {
  const reader = new BerReader(bytes)
  reader.readSequence()
  reader.readInt()
  reader.readSequence()
  return reader.readString() === '' && reader.readEnumeration() === 0
}

/** One of each vendor's attributes; those of a controller are in two entries. */
const POSITIONS = ['contextCSN', 'invocationId', 'replUpToDateVector', 'nsds50ruv']

function readsPosition({ bytes }: Frame): boolean {
  return POSITIONS.some((attribute) => bytes.includes(attribute))
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

/** The caller may append fields, and ends the sequence. */
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
