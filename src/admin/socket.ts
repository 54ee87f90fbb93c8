import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What a socket's address can hold, with room to spare. */
const LONGEST = 100

/** Where the daemon of this data directory listens for commands; a path that is too long for a socket is replaced by a hash. */
export function socketPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'admin.sock')
  if (Buffer.byteLength(path) <= LONGEST) return path
  return join(tmpdir(), `dirsyncd-${hash('sha256', path).slice(0, 16)}.sock`)
}
