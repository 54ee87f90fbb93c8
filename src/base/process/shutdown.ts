import { DirsyncdError, sentence } from '../errors.ts'

/** 128 and the signal's number: the first process of a container ignores its own signal and has to exit. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

type Signal = keyof typeof EXIT_CODES

const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM']

function interruptedBy(signal: Signal): string {
  return `Interrupted by ${signal}.`
}

/** For the signal with which `installShutdown` aborted. */
export function exitCodeAfter({ reason }: AbortSignal): number {
  return EXIT_CODES[SIGNALS.find((signal) => sentence(reason) === interruptedBy(signal)) ?? 'SIGINT']
}

/** At each SIGHUP, which would otherwise end the process, until it is disposed. */
export function onHangup(listener: () => void): Disposable {
  process.on('SIGHUP', listener)
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) }
}

/** At each SIGQUIT, which would otherwise end the process, until it is disposed. */
export function onQuit(listener: () => void): Disposable {
  process.on('SIGQUIT', listener)
  return { [Symbol.dispose]: () => void process.off('SIGQUIT', listener) }
}

export function onUser2(listener: () => void): Disposable {
  process.on('SIGUSR2', listener)
  return { [Symbol.dispose]: () => void process.off('SIGUSR2', listener) }
}

/** Shorter than the ten seconds that a container gets before it is killed. */
const GRACE_MS = 8000

/**
 * A second signal within this time is the same Ctrl-C: the terminal sends it to every process, and npm forwards it once
 * more.
 */
const ECHO_MS = 500

export interface Shutdown extends Disposable {
  /** Aborted at the first signal: stop taking work, let requests in flight finish. */
  readonly signal: AbortSignal
  /** Keeps the handlers after a signal: then the process is about to end. */
  readonly dispose: () => void
}

/**
 * Handles SIGINT and SIGTERM. The first one aborts the signal; the second one, or the end of the grace period, ends the
 * process at once.
 */
export function installShutdown(graceMs: number = GRACE_MS): Shutdown {
  const controller = new AbortController()
  let overdue: NodeJS.Timeout | undefined
  let receivedAt = 0

  function receive(signal: Signal): void {
    if (controller.signal.aborted) {
      if (performance.now() - receivedAt > ECHO_MS) end(signal)
      return
    }
    receivedAt = performance.now()
    overdue = setTimeout(() => {
      process.stderr.write(`Gave up waiting for work in flight after ${graceMs / 1000} s.\n`)
      end(signal)
    }, graceMs).unref()
    controller.abort(new DirsyncdError('interrupted', interruptedBy(signal)))
  }

  function end(signal: Signal): void {
    // A thread blocked on a pipe or a network drive keeps an exiting process alive, but not one that a signal ends.
    process.once('exit', () => {
      process.off(signal, receive)
      process.kill(process.pid, signal)
    })
    process.exit(EXIT_CODES[signal])
  }

  function dispose(): void {
    clearTimeout(overdue)
    // The second copy of a Ctrl-C may still come, and must not end a process that is about to end by itself.
    if (controller.signal.aborted) return
    for (const signal of SIGNALS) process.off(signal, receive)
  }

  for (const signal of SIGNALS) process.on(signal, receive)
  return { signal: controller.signal, dispose, [Symbol.dispose]: dispose }
}
