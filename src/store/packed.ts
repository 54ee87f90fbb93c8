import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Items of one part, so that no part blocks the process. */
const ITEMS = 1024

/**
 * Items as JSON in compressed parts, each behind its length: some bytes for each of many similar keys.
 *
 * @param items `undefined` for each that was passed over
 */
export async function pack(items: Iterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = []
  const add = async (part: readonly unknown[]): Promise<void> => {
    const bytes = await deflate(Buffer.from(JSON.stringify(part)))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    parts.push(length, bytes)
  }
  let [part, count]: [unknown[], number] = [[], 0]
  for (const item of items) {
    if (item !== undefined) part.push(item)
    count += 1
    if (count % ITEMS !== 0) continue
    await (part.length > 0 ? add(part) : setImmediate())
    part = []
  }
  if (part.length > 0) await add(part)
  return Buffer.concat(parts)
}

/** The items, part by part. */
export async function* unpack<T>(packed: Buffer): AsyncGenerator<readonly T[], void> {
  for (let at = 0; at < packed.length;) {
    const length = packed.readUInt32LE(at)
    const json = await inflate(packed.subarray(at + 4, at + 4 + length))
    yield JSON.parse(json.toString()) as T[]
    at += 4 + length
    await setImmediate()
  }
}
