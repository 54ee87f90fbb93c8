import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../api/contract/endpoints.ts'
import { type FormObject, FormReader } from './form.ts'
import { Problem } from './problem.ts'

const KIB = 1024

/** In bytes. JSON is parsed at once, so even for lists it is limited to `list`. */
export const BODY_LIMITS = {
  default: 64 * KIB,
  /** 100 entries with values of full length. */
  list: 1024 * KIB,
  /** A form with the members of a group: 100,000 ids of 100 bytes. */
  members: 16 * 1024 * KIB,
} as const

/** Of JSON; the API needs four levels. */
const MAX_DEPTH = 20

/** In bytes. */
export function bodyLimitOf({ form }: Endpoint): number {
  if (form !== undefined && 'external_member_ids' in form.fields.shape) return BODY_LIMITS.members
  return form?.list === undefined ? BODY_LIMITS.default : BODY_LIMITS.list
}

/** Accepts forms and JSON, and refuses every other body with a problem. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', readForm)
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseJson(body),
  )
}

/**
 * Parses each part as it arrives, so that a large form neither blocks the process nor is in memory as a whole. Reads on
 * after an error: a client that is still sending would lose the answer with the connection.
 */
async function readForm(request: FastifyRequest, payload: IncomingMessage): Promise<FormObject> {
  const limit = request.routeOptions.bodyLimit
  if (Number(request.headers['content-length']) > limit) throw tooLarge()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = new FormReader()
  let failure: unknown
  let size = 0
  for await (const chunk of chunksOf(payload)) {
    // Many parts may have arrived at once.
    if (size > 0) await nextTurn()
    size += chunk.length
    if (size > limit) throw tooLarge()
    try {
      if (failure === undefined) reader.push(decode(decoder, chunk))
    } catch (error) {
      failure = error
    }
  }
  if (failure !== undefined) throw failure
  reader.push(decode(decoder))
  return reader.end()
}

async function* chunksOf(payload: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // The connection must stay open for the answer to a body that is refused half-way.
    yield* payload.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new Problem('malformed', 'The body ended too early.', { cause })
  }
}

/** Without a chunk the body ends, and an unfinished character is an error. */
function decode(decoder: TextDecoder, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch {
    throw notUtf8()
  }
}

function parseJson(body: Buffer): unknown {
  if (body.length > BODY_LIMITS.list) throw tooLarge()
  if (!isUtf8(body)) throw notUtf8()
  if (isTooDeep(body)) throw new Problem('malformed', `The body is nested deeper than ${MAX_DEPTH} levels.`)
  const text = body.toString()
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('malformed', 'The body is not valid JSON.')
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING: ReadonlySet<number> = new Set(Buffer.from('[{'))
const CLOSING: ReadonlySet<number> = new Set(Buffer.from(']}'))

/** Counts brackets outside of strings before parsing: deep nesting costs a parser much time and memory. */
function isTooDeep(json: Buffer): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]!
    if (inString && byte === BACKSLASH) at += 1
    else if (byte === QUOTE) inString = !inString
    else if (!inString && OPENING.has(byte)) depth += 1
    else if (!inString && CLOSING.has(byte)) depth -= 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}

function tooLarge(): Problem {
  return new Problem('body-too-large', 'The body is larger than the service accepts here.')
}

function notUtf8(): Problem {
  return new Problem('malformed', 'The body is not valid UTF-8.')
}
