import { closeSync, openSync, writeSync } from 'node:fs'
import type { FaultKind } from '../faults/faults.ts'

/** What the log says about one request; never a header, so never a token. */
export interface RequestLine {
  /** When the request was received, in milliseconds since 1970, with a fraction. */
  readonly at: number
  readonly method: string
  /** The path and the query; the values of unknown parameters are left out. */
  readonly url: string
  /** The status that was answered, or null when the connection was cut before the answer was out. */
  readonly status: number | null
  /** Whether the work of the request was done and, where it writes, committed. */
  readonly done: boolean
  readonly deviceId: string | null
  /** The fault that was injected. */
  readonly fault?: FaultKind | 'limit'
}

/** Gets one line per request when its answer is out or its connection is cut, and its work has ended. */
export interface RequestLog {
  write(line: RequestLine): void
  close(): void
}

/**
 * Appends one line of JSON per request to the file. Writes each line synchronously, so that the file holds every
 * answered request even when a process is killed. Throws when the file cannot be opened.
 */
export function createRequestLog(path: string): RequestLog {
  const file = openSync(path, 'a', 0o600)
  let open = true
  return {
    write(line) {
      if (open) writeSync(file, `${JSON.stringify(line)}\n`)
    },
    close() {
      if (open) closeSync(file)
      open = false
    },
  }
}
