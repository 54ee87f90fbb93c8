import { setFlagsFromString } from 'node:v8'

/** With these, a run of a million users needs a third less memory. */
export const LESS_MEMORY = {
  /** Half as much for objects that have just been made, which Node lets grow with the memory of the machine. */
  options: ['--max-semi-space-size=8'],
  /** The C library gives freed buffers back: a run makes and frees one for each page. */
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
} as const

/**
 * Node and the C library take these settings only when a process begins, so this one begins again: the same process, with
 * another start of Node of some 35 ms. Returns where they are set already, however it was started, and where a process
 * cannot begin again.
 */
export function beginWithLessMemory(process: NodeJS.Process): void {
  const { env, execPath, execArgv, argv } = process
  const options = `${env['NODE_OPTIONS'] ?? ''} ${execArgv.join(' ')}`
  const isSet =
    Object.keys(LESS_MEMORY.env).every((name) => env[name] !== undefined) &&
    options.includes('--max-semi-space-size')
  if (isSet) return
  const all = [execPath, ...LESS_MEMORY.options, ...execArgv, ...argv.slice(1)]
  process.execve?.(execPath, all, { ...LESS_MEMORY.env, ...env })
}

/**
 * V8 would let the heap grow to several times of what it holds before it looks for garbage, of which a run makes a lot:
 * without this, a run of 200,000 creates takes a third more memory, and no less time. To be called once, when a process
 * begins.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=30')
}
