import { DirsyncdError } from './errors.ts'

/** Exit codes of a process that a signal ended: 128 and the signal's number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

type Signal = keyof typeof EXIT_CODES

const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM']

/** Shorter than the ten seconds that a container gets before it is killed. */
const GRACE_MS = 8000

export interface Shutdown extends Disposable {
  /** Aborted at the first signal: stop taking work, let what is in flight finish. */
  readonly signal: AbortSignal
  /** Takes the handlers off again. */
  readonly dispose: () => void
}

/**
 * Listens for SIGINT and SIGTERM. The first one aborts the signal; the second one, or the end of the grace period, ends
 * the process at once.
 */
export function installShutdown(options: { readonly graceMs?: number } = {}): Shutdown {
  const graceMs = options.graceMs ?? GRACE_MS
  const controller = new AbortController()
  let overdue: NodeJS.Timeout | undefined

  function receive(signal: Signal): void {
    if (controller.signal.aborted) process.exit(EXIT_CODES[signal])
    overdue = setTimeout(() => {
      process.stderr.write(`dirsyncd: gave up waiting for work in flight after ${graceMs / 1000} s.\n`)
      process.exit(EXIT_CODES[signal])
    }, graceMs).unref()
    controller.abort(new DirsyncdError('interrupted', `Interrupted by ${signal}.`))
  }

  function dispose(): void {
    clearTimeout(overdue)
    for (const signal of SIGNALS) process.off(signal, receive)
  }

  for (const signal of SIGNALS) process.on(signal, receive)
  return { signal: controller.signal, dispose, [Symbol.dispose]: dispose }
}
