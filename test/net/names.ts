import crypto, { type BinaryLike } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** By the first digits of a hash, what it is a hash of. */
const hashed = new Map<string, string>()

const PRINT_LENGTH = 32

// A decider identifies changes by hashes, of which a difference between two deciders could not be read.
const { hash } = crypto
crypto.hash = ((algorithm: string, data: BinaryLike) => {
  const made = hash(algorithm, data)
  if (typeof data === 'string') hashed.set(made.slice(0, PRINT_LENGTH), data)
  return made
}) as typeof hash
syncBuiltinESMExports()

/** Called before each world, so that they do not pile up. */
export function forgetNames(): void {
  hashed.clear()
}

/** Says of the fingerprint of a change which change it is. */
export function nameOf(print: string): string {
  if (print.startsWith('server-')) return 'server'
  const text = hashed.get(print)
  if (text === undefined) return print
  const [op, id, wanted] = JSON.parse(text) as [string, string, unknown]
  return wanted === null ? `${op} ${id}` : `${op} ${id} ${JSON.stringify(wanted)}`
}
