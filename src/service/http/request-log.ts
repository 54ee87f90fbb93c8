import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { DirsyncdError, sentence, systemCode, whyUnwritable } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import type { FaultKind } from '../faults/faults.ts'

/** Never a header, so never a token. */
export interface RequestLine {
  /** Received at, in milliseconds since 1970, with a fraction. */
  readonly at: number
  readonly method: string
  /** Path and query, without the values of unknown parameters. */
  readonly url: string
  /** Null when the connection was cut before the answer was out. */
  readonly status: number | null
  /** The work was done and, where it writes, committed. */
  readonly done: boolean
  readonly deviceId: string | null
  readonly fault?: FaultKind | 'limit'
}

/** One line per request when its answer is out or its connection is cut, and its work has ended. */
export interface RequestLog {
  write(line: RequestLine): void
  close(): void
}

export interface RequestLogFile extends RequestLog {
  /** For a file that was moved away; if that fails, lines still go to the old one. */
  reopen(): void
}

/**
 * Appends one line of JSON per request. Writes synchronously, so that the file holds every answered request even when a
 * process is killed. On a full disk or pipe, lines are lost and requests continue; the log says so once, and once more
 * when a line can be written again. Throws `DirsyncdError` (config-invalid) when the file cannot be opened.
 */
export function createRequestLog(path: string, log: Log): RequestLogFile {
  let file: number | undefined = openFile(path)
  let lost = 0
  /** After half a line, the next one needs a line of its own. */
  let isTorn = false

  function append(descriptor: number, text: string): void {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text)
    for (let done = 0; done < bytes.length;) {
      done += writeSync(descriptor, bytes, done)
      isTorn = done < bytes.length
    }
  }

  return {
    write(line) {
      if (file === undefined) return
      try {
        append(file, `${JSON.stringify(line)}\n`)
        if (lost > 0) log.warn({ file: path, lost }, 'the request log can be written again')
        lost = 0
      } catch (error) {
        lost += 1
        if (lost === 1) log.error({ file: path, error: sentence(error) }, LOST)
      }
    },
    reopen() {
      if (file === undefined) return
      try {
        const opened = openFile(path)
        closeSync(file)
        file = opened
      } catch (error) {
        log.error(
          { file: path, error: sentence(error) },
          'the request log cannot be opened again; lines still go to the old file',
        )
      }
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

const LOST =
  'the request log cannot be written and its lines are lost: free space on its disk, read its pipe faster, or set requestLog to another file'

/** A pipe never blocks the service, neither without a reader nor with a slow one; then lines are lost. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

function openFile(path: string): number {
  try {
    return openSync(path, FLAGS, 0o600)
  } catch (cause) {
    if (systemCode(cause) === 'ENXIO') {
      const what = `The request log ${path} is a pipe that nobody reads: start its reader first, or set requestLog to a file.`
      throw new DirsyncdError('config-invalid', what, { cause })
    }
    const what = `The request log ${path} cannot be opened: ${whyUnwritable(cause)}; set requestLog to another file.`
    throw new DirsyncdError('config-invalid', what, { cause })
  }
}
