import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'

/** A yes/no question. Rejects when the signal is aborted. */
export type Ask = (question: string, signal: AbortSignal) => Promise<boolean>

/** Everything but `y` and `yes` is a no. */
export function askOn(terminal: { readonly input: Readable; readonly output: Writable }): Ask {
  return async (question, signal) => {
    using lines = createInterface(terminal)
    const answer = await lines.question(`${question} [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim())
  }
}
