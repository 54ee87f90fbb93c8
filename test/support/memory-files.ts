import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'dirsyncd-tests-'
/** More than the files of a whole test run, with room for the programs. */
const NEEDED_BYTES = 6 * 2 ** 30

/**
 * Has the tests write their temporary files to memory where Linux offers enough of it, unless TMPDIR says where. They
 * write tens of thousands of files, which takes longer on a disk. Call it before the first worker starts.
 */
export function useMemoryForFiles(): void {
  if (process.env['TMPDIR'] !== undefined || !isUsable()) return
  removeLeftovers()
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  // Servers run as another user.
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  process.env['TMPDIR'] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** Tests run programs that they write, which a container's /dev/shm may forbid. */
function isUsable(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const [, , type, options = ''] =
      mounts.findLast((line) => line.split(' ')[1] === MEMORY)?.split(' ') ?? []
    const { bavail, bsize } = statfsSync(MEMORY)
    const bytes = Math.min(bavail * bsize, process.availableMemory())
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bytes >= NEEDED_BYTES
  } catch {
    return false
  }
}

/** A test run that was killed left its files, and they take up memory. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || isAlive(Number(name.slice(PREFIX.length)))) continue
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true })
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
