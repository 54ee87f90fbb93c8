import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DirsyncdError, sentence } from '../../errors.ts'
import { interruption } from '../interruption.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'
import { createRowParser } from './rows.ts'
import { createTextCheck } from './text-check.ts'

/**
 * Streams a CSV file: the header, then every row. What is caught where, for a file that was cut off or is being written:
 *
 * - cut inside a character, a quoted value or a row: here, `source-incomplete`;
 * - cut inside the last value of a row: here too. A last row without a line end is only taken when its last value ends
 *   with a quote; a bare one may well be half a value. So an exporter has to end its last row like every other;
 * - changed, replaced or removed while it was read: here, by size, time of change and inode;
 * - cut exactly at the end of a row (or, without its line end, between the two quotes of a doubled one): it looks like a shorter company. That is what the guards are for (source shrunk,
 *   share of deletes);
 * - a row that cannot be understood in the middle: it is told to the listener, and the run deletes nothing.
 *
 * Throws `source-unreachable` for a file that cannot be read and `config-invalid` for a column that it does not have.
 */
export async function readCsv(
  input: CsvInput,
  signal: AbortSignal,
  listener: CsvListener,
): Promise<CsvTotals> {
  try {
    signal.throwIfAborted()
    await using file = await open(input.path)
    return await readOpened(file, input, signal, listener)
  } catch (error) {
    if (error instanceof DirsyncdError) throw error
    if (signal.aborted) throw interruption(signal, `interrupted while reading ${input.path}`)
    const message = `${input.path} (${input.key}.path) cannot be read: ${sentence(error)}`
    throw new DirsyncdError('source-unreachable', message, { cause: error })
  }
}

async function readOpened(
  file: FileHandle,
  input: CsvInput,
  signal: AbortSignal,
  listener: CsvListener,
): Promise<CsvTotals> {
  const name = basename(input.path)
  const before = await file.stat({ bigint: true })
  const rows = createRowParser(input, name, listener)
  const text = createTextCheck(name)
  const bytes = file.createReadStream({ autoClose: false, signal })
  await pipeline(bytes, text.pass, rows.parser, drain)
  text.finish(rows.lastRowWhole())
  const after = await stat(input.path, { bigint: true }).catch(() => undefined)
  if (after?.ino !== before.ino || after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
    throw new DirsyncdError(
      'source-incomplete',
      `${input.path} changed while it was read; the next run reads it again`,
    )
  }
  return rows.totals()
}

/** Rows go to the listener while they are parsed; nothing comes out at the end. */
async function drain(output: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of output);
}
