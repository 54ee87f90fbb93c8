import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What a socket's address can hold, with room to spare. */
const LONGEST = 100

/**
 * Where the daemon of this data directory listens for commands, or the service under a name of its own: they may share
 * one. A path that is too long for a socket is replaced by a hash.
 */
export function socketPath(dataDir: string, name: 'admin.sock' | 'service.sock' = 'admin.sock'): string {
  const path = join(resolve(dataDir), name)
  if (Buffer.byteLength(path) <= LONGEST) return path
  return join(tmpdir(), `dirsyncd-${hash('sha256', path).slice(0, 16)}.sock`)
}
