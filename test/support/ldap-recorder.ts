import type { Socket } from 'node:net'
import {
  decodeAll,
  ENUMERATED,
  encode,
  encodeInteger,
  encodeTlv,
  integerOf,
  messageLength,
  OCTETS,
  SEQUENCE,
  SET,
  type Tlv,
} from './ber.ts'
import { startTcpRelay } from './tcp-relay.ts'

/** Limits that Active Directory enforces for every client, and Samba for none. */
export interface AdLimits {
  /** The most entries in a page; a search without paging gets this many entries and result 4. */
  readonly page: number
  /** The most values of `member` in one answer; the client requests the others as `member;range=…`. */
  readonly range: number
}

export interface RecorderOptions {
  /** A free port of 127.0.0.1 by default. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** The attributes of an entry that the client sees; all by default. */
  readonly shown?: (dn: string, attributes: readonly RecordedAttribute[]) => readonly RecordedAttribute[]
}

export interface RecordedAttribute {
  readonly name: string
  readonly values: readonly Buffer[]
}

export interface RecordedSearch {
  readonly base: string
  readonly scope: 'base' | 'one' | 'sub'
  readonly attributes: readonly string[]
  /** The page size that the client requested; `undefined` without paging. */
  readonly pageSize: number | undefined
  /** Whether the request has the cookie of an earlier page. */
  readonly isNextPage: boolean
  entries: number
  /** The result code that the client got; `undefined` before the end of the search. */
  result: number | undefined
}

export interface LdapRecorder extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly connections: number
  /** The DN of every simple bind; `''` for an anonymous one. */
  readonly binds: readonly string[]
  /** Every search request: a search in three pages has three items. */
  readonly searches: readonly RecordedSearch[]
  /** Deletes the recorded connections, binds and searches. */
  clear(): void
  /** Calls `change` once, before the client gets the first range of a single entry. */
  betweenRanges(change: () => Promise<void>): void
}

const PAGING = '1.2.840.113556.1.4.319'
const RANGE = /^member;range=(\d+)-(?:\d+|\*)$/i
const SCOPES = ['base', 'one', 'sub'] as const

/**
 * Starts a proxy for an LDAP server that decodes and records requests and answers, on connections without TLS. With
 * limits, it answers like Active Directory. `ldap-proxy.ts` injects faults and can be put in front of it.
 */
export async function startLdapRecorder(
  target: { readonly host: string; readonly port: number },
  limits?: AdLimits,
  { listen = { host: '127.0.0.1', port: 0 }, shown }: RecorderOptions = {},
): Promise<LdapRecorder> {
  const record: Recording = { connections: 0, binds: [], searches: [], change: undefined }
  const relay = await startTcpRelay(target, listen, (client, upstream) => {
    record.connections += 1
    const watch = watchConnection(record, limits, shown)
    onMessages(client, (message) => upstream.write(watch.request(message)))
    let sent = Promise.resolve()
    onMessages(upstream, (message) => {
      const answer = watch.answer(message)
      if (answer === undefined) return
      const { change } = record
      const isDue = change !== undefined && watch.isFirstRange(answer)
      if (isDue) record.change = undefined
      sent = sent.then(async () => {
        if (isDue) await change()
        client.write(answer)
      })
    })
  })
  return {
    url: `ldap://${listen.host}:${relay.port}`,
    port: relay.port,
    get connections() {
      return record.connections
    },
    get binds() {
      return record.binds
    },
    get searches() {
      return record.searches
    },
    clear() {
      record.connections = 0
      record.binds = []
      record.searches = []
    },
    betweenRanges(change) {
      record.change = change
    },
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
}

interface Recording {
  connections: number
  binds: string[]
  searches: RecordedSearch[]
  change: (() => Promise<void>) | undefined
}

interface OpenSearch {
  readonly search: RecordedSearch
  /** The index of the first requested value of `member`; `undefined` without a range. */
  readonly from: number | undefined
}

function watchConnection(record: Recording, limits: AdLimits | undefined, shown: RecorderOptions['shown']) {
  const open = new Map<number, OpenSearch>()

  function request(message: Buffer): Buffer {
    const { id, operation, rest } = split(message)
    if (operation.tag === 0x60) record.binds.push(decodeAll(operation.content)[1]?.content.toString() ?? '')
    if (operation.tag !== 0x63) return message
    const fields = decodeAll(operation.content)
    const asked = decodeAll(fields[7]?.content ?? Buffer.alloc(0)).map(({ content }) => content.toString())
    const paging = pagingOf(rest)
    const search: RecordedSearch = {
      base: fields[0]?.content.toString() ?? '',
      scope: SCOPES[fields[1]?.content[0] ?? 0] ?? 'base',
      attributes: asked,
      pageSize: paging?.size,
      isNextPage: (paging?.cookie.length ?? 0) > 0,
      entries: 0,
      result: undefined,
    }
    record.searches.push(search)
    const range = asked.map((name) => RANGE.exec(name)).find((match) => match !== null)
    open.set(id, { search, from: limits && range ? Number(range[1]) : undefined })
    if (limits === undefined) return message
    const attributes = asked.map((name) => encode(OCTETS, name.replace(/^member;range=.*$/i, 'member')))
    const body = [...fields.slice(0, 7).map(encodeTlv), encode(SEQUENCE, ...attributes)]
    const controls =
      paging && paging.size > limits.page ? [withPageSize(rest, limits.page)] : rest.map(encodeTlv)
    return encode(SEQUENCE, encodeInteger(id), encode(0x63, ...body), ...controls)
  }

  /** `undefined` for an entry beyond the page limit, which the client does not get. */
  function answer(message: Buffer): Buffer | undefined {
    const { id, operation } = split(message)
    const current = open.get(id)
    if (current === undefined) return message
    const { search } = current
    const full = limits !== undefined && search.pageSize === undefined && search.entries >= limits.page
    if (operation.tag === 0x64) {
      if (full) {
        search.result = 4
        return undefined
      }
      search.entries += 1
      const entry = shown === undefined ? operation : withShown(operation, shown)
      if (limits !== undefined) return withRange(id, entry, current.from, limits.range)
      return shown === undefined ? message : encode(SEQUENCE, encodeInteger(id), encodeTlv(entry))
    }
    if (operation.tag !== 0x65) return message
    open.delete(id)
    if (search.result === 4) return searchDone(id, 4)
    search.result = integerOf(decodeAll(operation.content)[0] ?? operation)
    return message
  }

  /** Whether the message is the first of several ranges, in a search for a single entry. */
  function isFirstRange(message: Buffer): boolean {
    const { id } = split(message)
    return open.get(id)?.search.scope === 'base' && /member;range=0-\d/.test(message.toString('latin1'))
  }

  return { request, answer, isFirstRange }
}

function withShown(operation: Tlv, shown: NonNullable<RecorderOptions['shown']>): Tlv {
  const [dn, list] = decodeAll(operation.content)
  const attributes = decodeAll(list?.content ?? Buffer.alloc(0)).map((attribute) => {
    const [type, set] = decodeAll(attribute.content)
    const values = decodeAll(set?.content ?? Buffer.alloc(0)).map(({ content }) => content)
    return { name: type?.content.toString() ?? '', values }
  })
  const some = shown(dn?.content.toString() ?? '', attributes).map(({ name, values }) =>
    encode(SEQUENCE, encode(OCTETS, name), encode(SET, ...values.map((value) => encode(OCTETS, value)))),
  )
  const content = Buffer.concat([encode(OCTETS, dn?.content ?? ''), encode(SEQUENCE, ...some)])
  return { tag: operation.tag, content }
}

/** Cuts the requested range out of `member`; the upstream server always sends all values. */
function withRange(id: number, operation: Tlv, from: number | undefined, most: number): Buffer {
  const [dn, list] = decodeAll(operation.content)
  const attributes = decodeAll(list?.content ?? Buffer.alloc(0)).flatMap((attribute) => {
    const [type, set] = decodeAll(attribute.content)
    const values = decodeAll(set?.content ?? Buffer.alloc(0))
    const name = type?.content.toString() ?? ''
    const isShort = from === undefined && values.length <= most
    if (name.toLowerCase() !== 'member' || isShort) return [encodeTlv(attribute)]
    const first = from ?? 0
    const some = values.slice(first, first + most)
    const last = first + most >= values.length ? '*' : String(first + most - 1)
    const part = attributeOf(`member;range=${first}-${last}`, some)
    return from === undefined ? [attributeOf('member', []), part] : [part]
  })
  const entry = encode(0x64, encode(OCTETS, dn?.content ?? ''), encode(SEQUENCE, ...attributes))
  return encode(SEQUENCE, encodeInteger(id), entry)
}

function attributeOf(name: string, values: readonly Tlv[]): Buffer {
  return encode(SEQUENCE, encode(OCTETS, name), encode(SET, ...values.map(encodeTlv)))
}

function searchDone(id: number, code: number): Buffer {
  const result = encode(0x65, encodeInteger(code, ENUMERATED), encode(OCTETS, ''), encode(OCTETS, ''))
  return encode(SEQUENCE, encodeInteger(id), result)
}

function split(message: Buffer): { id: number; operation: Tlv; rest: Tlv[] } {
  const [whole] = decodeAll(message)
  const [id, operation, ...rest] = decodeAll(whole?.content ?? Buffer.alloc(0))
  if (id === undefined || operation === undefined) throw new Error('a message without id or operation')
  return { id: integerOf(id), operation, rest }
}

function controlsOf(rest: readonly Tlv[]): { oid: string; parts: Tlv[] }[] {
  const controls = decodeAll(rest.find(({ tag }) => tag === 0xa0)?.content ?? Buffer.alloc(0))
  return controls.map(({ content }) => {
    const parts = decodeAll(content)
    return { oid: parts[0]?.content.toString() ?? '', parts }
  })
}

function pagingOf(rest: readonly Tlv[]): { size: number; cookie: Buffer } | undefined {
  const value = controlsOf(rest)
    .find(({ oid }) => oid === PAGING)
    ?.parts.at(-1)
  if (value === undefined) return undefined
  const [size, cookie] = decodeAll(decodeAll(value.content)[0]?.content ?? Buffer.alloc(0))
  return { size: size === undefined ? 0 : integerOf(size), cookie: cookie?.content ?? Buffer.alloc(0) }
}

function withPageSize(rest: readonly Tlv[], size: number): Buffer {
  const cookie = pagingOf(rest)?.cookie ?? Buffer.alloc(0)
  const value = encode(OCTETS, encode(SEQUENCE, encodeInteger(size), encode(OCTETS, cookie)))
  const controls = controlsOf(rest).map(({ oid, parts }) => {
    const kept = oid === PAGING ? [...parts.slice(0, -1).map(encodeTlv), value] : parts.map(encodeTlv)
    return encode(SEQUENCE, ...kept)
  })
  return encode(0xa0, ...controls)
}

function onMessages(socket: Socket, take: (message: Buffer) => void): void {
  let held = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (let length = messageLength(held); length !== undefined; length = messageLength(held)) {
      take(held.subarray(0, length))
      held = held.subarray(length)
    }
  })
}
