import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** In bytes; less than a socket's address can hold. */
const LONGEST = 100

/**
 * The socket on which the daemon or the service of this data directory listens for commands. Their names differ,
 * because they may share one directory. A path that is too long for a socket is replaced by a hash.
 */
export function socketPath(dataDir: string, name: 'admin.sock' | 'service.sock' = 'admin.sock'): string {
  const path = join(resolve(dataDir), name)
  if (Buffer.byteLength(path) <= LONGEST) return path
  return join(tmpdir(), `dirsyncd-${hash('sha256', path).slice(0, 16)}.sock`)
}
