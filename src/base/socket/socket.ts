import { existsSync } from 'node:fs'
import { constants, open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { DirsyncdError } from '../errors.ts'

/** The daemon and the service may share a data directory, so their names differ. */
export function socketPath(dataDir: string, name: 'admin.sock' | 'service.sock' = 'admin.sock'): string {
  return join(resolve(dataDir), name)
}

/** In bytes; less than a socket's address can hold. */
const LONGEST = 100
const OPEN_FOLDERS = '/proc/self/fd'

/** Short enough for an address; leads to the socket until disposed. */
export interface SocketAddress extends AsyncDisposable {
  readonly path: string
}

/**
 * Throws `config-invalid` for a long path outside of Linux, which reaches a file through its open folder, and the error
 * of the system call where the folder cannot be opened.
 */
export async function openAddress(socket: string): Promise<SocketAddress> {
  if (Buffer.byteLength(socket) <= LONGEST) return { path: socket, [Symbol.asyncDispose]: async () => {} }
  if (!existsSync(OPEN_FOLDERS)) throw tooLong(socket)
  const folder = await open(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    path: join(OPEN_FOLDERS, String(folder.fd), basename(socket)),
    [Symbol.asyncDispose]: () => folder.close(),
  }
}

function tooLong(socket: string): DirsyncdError {
  const longest = LONGEST - 1 - Buffer.byteLength(basename(socket))
  return new DirsyncdError(
    'config-invalid',
    `dataDir ${dirname(socket)} is too long for a socket on this system: set it to a path of at most ${longest} bytes.`,
  )
}
