import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { COMPILE_CACHE } from './compile-cache.ts'
import { PATIENCE } from './patience.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** `dirsyncd` on a pseudo terminal, with a test as the person at the keyboard. */
export interface Terminal extends AsyncDisposable {
  /** What the terminal has shown since the last answer, without colours and movements of the cursor. */
  shown(): string
  /** Waits until the terminal shows this, and then types the keys. */
  answer(question: RegExp, keys: string): Promise<void>
  /** The exit code. */
  readonly ended: Promise<number | null>
}

export const KEYS = { enter: '\r', down: '\x1b[B', ctrlC: '\x03', ctrlD: '\x04', clear: '\x15' } as const

/** Starts the program in `cwd`. util-linux's `script` makes the terminal. */
export function openTerminal(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Terminal {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'KILL',
      '--',
      'script',
      '--quiet',
      '--return',
      '--flush',
      '--command',
      command,
      '/dev/null',
    ],
    {
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        SHELL: '/bin/sh',
        TERM: 'xterm',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...env,
      },
    },
  )
  let all = ''
  let from = 0
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (all += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const shown = () => withoutEscapes(all.slice(from))
  return {
    shown,
    ended,
    answer: async (question, keys) => {
      for (const start = Date.now(); !question.test(shown()); await delay(50)) {
        if (child.exitCode !== null || Date.now() - start > PATIENCE.timeout)
          expect(shown()).toMatch(question)
      }
      // The question has been drawn; the keyboard is listened to at once.
      await delay(100)
      from = all.length
      child.stdin.write(keys)
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function withoutEscapes(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what a terminal is told
  return text.replaceAll(/\x1b\[[?0-9;]*[A-Za-z]/g, '').replaceAll('\r', '')
}
