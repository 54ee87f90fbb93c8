import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Ber, BerReader, BerWriter, FilterParser, ProtocolOperation } from 'ldapts'

/** A search as the server understood it. */
export interface FakeSearch {
  readonly base: string
  readonly scope: number
  /** As RFC 4515 writes it, names in lower case. */
  readonly filter: string
  readonly attributes: readonly string[]
  /** `derefAliases`: 0 never, 1 in searching, 2 finding the base, 3 always. */
  readonly aliases: number
  /** The limits in the request; 0 means no limit. */
  readonly sizeLimit: number
  readonly timeLimit: number
}

export interface FakeEntry {
  readonly dn: string
  readonly attributes: Readonly<Record<string, readonly (string | Buffer)[]>>
}

/** The entries, the URLs of references to other places (an empty one: a reference to nowhere), and the result code. */
export interface FakeAnswer {
  readonly entries?: readonly FakeEntry[]
  readonly references?: readonly string[]
  readonly code?: number
}

export interface FakeLdap extends AsyncDisposable {
  readonly url: string
  readonly searches: readonly FakeSearch[]
}

/**
 * Starts a server that accepts every bind and answers each search with `answer`, without paging. By default it listens
 * on a free port of 127.0.0.1.
 */
export async function startFakeLdap(
  answer: (search: FakeSearch) => FakeAnswer,
  { host, port }: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<FakeLdap> {
  const sockets = new Set<Socket>()
  const searches: FakeSearch[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    onMessages(socket, (reader) => {
      const id = reader.readInt() ?? 0
      const operation = reader.readSequence()
      if (operation === ProtocolOperation.LDAP_REQ_BIND)
        return void socket.write(result(id, ProtocolOperation.LDAP_RES_BIND, 0))
      if (operation !== ProtocolOperation.LDAP_REQ_SEARCH) return void socket.end()
      const search = readSearch(reader)
      searches.push(search)
      const { entries = [], references = [], code = 0 } = answer(search)
      const messages = entries.map((entry) => entryMessage(id, entry))
      for (const url of references) messages.push(referenceMessage(id, url))
      messages.push(result(id, ProtocolOperation.LDAP_RES_SEARCH, code))
      socket.write(Buffer.concat(messages))
    })
  }).listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `ldap://${host}:${address.port}`,
    searches,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function onMessages(socket: Socket, take: (reader: BerReader) => void): void {
  let held = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (;;) {
      const reader = new BerReader(held)
      if (held.length < 2 || reader.readSequence() === null) return
      const end = reader.offset + reader.length
      if (held.length < end) return
      take(new BerReader(held.subarray(reader.offset, end)))
      held = held.subarray(end)
    }
  })
}

function readSearch(reader: BerReader): FakeSearch {
  const base = reader.readString() ?? ''
  const scope = reader.readEnumeration() ?? 0
  const aliases = reader.readEnumeration() ?? 0
  const sizeLimit = reader.readInt() ?? 0
  const timeLimit = reader.readInt() ?? 0
  reader.readBoolean()
  const filter = FilterParser.parse(reader).toString()
  const attributes: string[] = []
  reader.readSequence()
  const end = reader.offset + reader.length
  while (reader.offset < end) attributes.push(reader.readString() ?? '')
  return { base, scope, filter, attributes, aliases, sizeLimit, timeLimit }
}

function message(id: number, operation: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writer.startSequence(operation)
  write(writer)
  writer.endSequence()
  writer.endSequence()
  return writer.buffer
}

function result(id: number, operation: number, code: number): Buffer {
  return message(id, operation, (writer) => {
    writer.writeEnumeration(code)
    writer.writeString('')
    writer.writeString('')
  })
}

function referenceMessage(id: number, url: string): Buffer {
  return message(id, ProtocolOperation.LDAP_RES_SEARCH_REF, (writer) => {
    if (url !== '') writer.writeString(url)
  })
}

function entryMessage(id: number, { dn, attributes }: FakeEntry): Buffer {
  return message(id, ProtocolOperation.LDAP_RES_SEARCH_ENTRY, (writer) => {
    writer.writeString(dn)
    writer.startSequence()
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence()
      writer.writeString(name)
      writer.startSequence(ProtocolOperation.LBER_SET)
      for (const value of values) writer.writeBuffer(Buffer.from(value as string), Ber.OctetString)
      writer.endSequence()
      writer.endSequence()
    }
    writer.endSequence()
  })
}
