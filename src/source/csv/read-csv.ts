import { createHash, type Hash } from 'node:crypto'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { DirsyncdError, fileReason } from '../../base/errors.ts'
import { incomplete } from '../incomplete.ts'
import { interruption } from '../interruption.ts'
import { decode } from './decode.ts'
import { chooseEncoding, refuseWorkbook } from './encoding.ts'
import { type CsvPath, findFiles, markOf } from './files.ts'
import { gunzip, isGzip } from './gunzip.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'
import { proveDigest, proveRows, proveTrailer } from './proof.ts'
import { RowReader } from './rows.ts'

/**
 * Streams the files of an input: of each the header, then every row. A file that was cut off or is being written:
 *
 * - cut inside a character, a quoted value, a row or a gzip stream: `source-incomplete`;
 * - cut inside the last value of a row: `source-incomplete`. A last row without a line end is accepted only when its
 *   last value ends with a quote, because an unquoted value may be cut. So an exporter must end its last row like all
 *   others;
 * - changed, replaced or removed while it was read, as size, times and inode show: `source-incomplete`;
 * - cut exactly at the end of a row (or, without its line end, between the two quotes of a doubled one):
 *   `source-incomplete` if a trailer, a row count or a digest is configured. Without these it looks like a smaller
 *   company, and the guards apply (source shrunk, share of deletes);
 * - a row in the middle that cannot be understood: the listener gets it, and the run deletes nothing.
 *
 * Throws `source-unreachable` for a file that cannot be read and `config-invalid` for a column that it does not have.
 */
export async function readCsv(
  input: CsvInput,
  signal: AbortSignal,
  listener: CsvListener,
): Promise<CsvTotals> {
  let rows = 0
  let columns: readonly string[] | undefined
  for (const file of await findFiles(input)) {
    const totals = await readFileOf(input, file, signal, listener)
    rows += totals.rows
    columns ??= totals.columns
  }
  return { rows, columns: columns ?? [] }
}

async function readFileOf(
  input: CsvInput,
  at: CsvPath,
  signal: AbortSignal,
  listener: CsvListener,
): Promise<CsvTotals> {
  try {
    signal.throwIfAborted()
    // Opening a pipe without a writer would otherwise wait for ever.
    await using file = await open(at.path, constants.O_RDONLY | constants.O_NONBLOCK)
    return await readOpened(file, input, at, signal, listener)
  } catch (error) {
    if (error instanceof DirsyncdError) throw error
    if (signal.aborted) throw interruption(signal, `interrupted while reading ${at.path}`)
    const message = `${at.path} (${input.key}.path) cannot be read: ${fileReason(error)}`
    throw new DirsyncdError('source-unreachable', message, { cause: error })
  }
}

async function readOpened(
  file: FileHandle,
  input: CsvInput,
  at: CsvPath,
  signal: AbortSignal,
  listener: CsvListener,
): Promise<CsvTotals> {
  const { path, name } = at
  const before = await file.stat({ bigint: true })
  if (!before.isFile()) throw new Error('it is not a file')
  refuseOld(Number(before.mtimeMs), input, name)
  const { chunks, encoding, zipped } = await openText(file, input.encoding ?? 'utf-8', name, signal)
  listener.onFile?.({ path, encoding, zipped, writtenMs: Number(before.mtimeMs) })
  const rows = new RowReader(input, name, listener)
  const hash = input.sha256 === true ? createHash('sha256') : undefined
  const text = decode({ name, encoding, chunks }, chunks(hash), (doubt) => listener.onDoubt?.(doubt))
  for await (const part of text) rows.write(part)
  rows.end()
  const mark = await stat(path, { bigint: true }).then(markOf, () => undefined)
  if (mark !== markOf(before)) {
    const what = mark === undefined ? 'went away' : 'changed'
    throw incomplete(`${path} ${what} while it was read; the next run reads it again`)
  }
  if (hash !== undefined) await proveDigest(path, name, hash.digest('hex'))
  // A digest or a trailer proves the end, so the last line needs no line end.
  if (hash === undefined && input.trailer === undefined) rows.proveLastLine()
  const totals = rows.totals()
  if (input.trailer !== undefined) proveTrailer(totals.trailer, input.trailer, totals.rows, name)
  if (input.rows === true) await proveRows(path, name, totals.rows)
  return totals
}

function refuseOld(mtimeMs: number, { maxAgeMs, key }: CsvInput, name: string): void {
  const age = Date.now() - mtimeMs
  if (maxAgeMs === undefined || age <= maxAgeMs) return
  const written = new Date(mtimeMs).toISOString()
  throw incomplete(
    `${name} was written ${written}, which is longer ago than ${key}.maxAge; does the export still run?`,
  )
}

const HEAD_BYTES = 4096

type Chunks = (hash?: Hash) => AsyncIterable<Buffer>

/** The unzipped bytes of the text, and their encoding. The hash is that of the file's own bytes. */
async function openText(
  file: FileHandle,
  set: string,
  name: string,
  signal: AbortSignal,
): Promise<{
  readonly chunks: Chunks
  readonly encoding: string
  readonly zipped: boolean
}> {
  const zipped = isGzip(await beginning(rawBytes(file, signal, HEAD_BYTES)))
  const chunks: Chunks = (hash) => {
    const bytes = rawBytes(file, signal, Infinity, hash)
    return zipped ? gunzip(bytes, name) : bytes
  }
  const head = await beginning(chunks())
  refuseWorkbook(head, name)
  return { chunks, encoding: chooseEncoding(head, set, name), zipped }
}

const CHUNK_BYTES = 64 * 1024

/** Not a read stream, because that closes the file when a loop over it ends early. */
async function* rawBytes(
  file: FileHandle,
  signal: AbortSignal,
  length = Infinity,
  hash?: Hash,
): AsyncGenerator<Buffer> {
  let position = 0
  while (position < length) {
    signal.throwIfAborted()
    const size = Math.min(CHUNK_BYTES, length - position)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(size), 0, size, position)
    if (bytesRead === 0) return
    position += bytesRead
    const bytes = buffer.subarray(0, bytesRead)
    hash?.update(bytes)
    yield bytes
  }
}

async function beginning(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  for await (const chunk of chunks) return chunk.subarray(0, HEAD_BYTES)
  return Buffer.alloc(0)
}
