import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { DirsyncdError } from '../../base/errors.ts'

export function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

/** Throws `source-incomplete` for a file that is cut off or damaged. */
export async function* gunzip(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const unzip = createGunzip()
  // Reading the output throws the same error.
  pipeline(chunks, unzip).catch(() => undefined)
  try {
    for await (const chunk of unzip) yield chunk as Buffer
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (!code.startsWith('Z_')) throw cause
    const what = code === 'Z_BUF_ERROR' ? 'ends too early, so it was cut off' : 'is damaged'
    throw new DirsyncdError('source-incomplete', `${name}: the gzip file ${what}`, { cause })
  }
}
