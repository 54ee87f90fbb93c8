import type { Kind } from '../../core/entries/entry.ts'
import type { Lookup } from '../mapping.ts'
import { splitLines } from './lines.ts'
import type { CommandSourceOptions } from './options.ts'
import { commandError, nameOf, runProgram, secretsOf } from './program.ts'
import { parseLine } from './record.ts'
import { withoutSecrets } from './tail.ts'

/** In bytes. A large group with all of its members is one line. */
const MAX_LINE = 16 * 1024 * 1024

export interface Printed {
  readonly kind: Kind
  readonly lookup: Lookup
  /** The program with the line, such as "hr-export, line 17". */
  readonly from: string
}

export interface Counts {
  readonly users: number
  readonly groups: number
}

/**
 * Runs the program and passes each entry to `onEntry` at once. Resolves when the output is complete: exit code 0 and,
 * as the last line, the right counts. Throws `source-incomplete` or `source-unreachable` with a sentence that names the
 * program and the line.
 */
export async function readOutput(
  options: CommandSourceOptions,
  signal: AbortSignal,
  onEntry: (entry: Printed) => void,
): Promise<Counts> {
  const counts = { user: 0, group: 0 }
  let end: Counts | undefined
  let last = 0

  function take(text: string, number: number): void {
    const line = parseLine(text, hide)
    if (line.type === 'blank') return
    last = number
    if (end !== undefined) throw fail(`line ${number} of its output comes after {"complete": true, …}`)
    if (line.type === 'wrong') throw fail(`line ${number} of its output ${line.why}`)
    if (line.type === 'end') {
      end = { users: line.users, groups: line.groups }
      return
    }
    counts[line.kind] += 1
    if (counts.user + counts.group > options.maxEntries) {
      throw fail(`it printed more than ${options.maxEntries} entries (maxEntries)`)
    }
    onEntry({ kind: line.kind, lookup: line.lookup, from: `${name}, line ${number}` })
  }

  const fail = (why: string) => commandError(options, why)
  const name = nameOf(options)
  const secrets = secretsOf(options, options.environment())
  const hide = (shown: string) => withoutSecrets(shown, secrets)
  const limits = { maxOutput: options.maxOutput, maxLine: MAX_LINE }
  await runProgram(options, signal, async (output) => {
    for await (const { first, lines } of splitLines(output, limits, fail)) {
      for (const [index, text] of lines.entries()) take(text, first + index)
    }
  })
  requireEnd(end, { users: counts.user, groups: counts.group }, last, fail)
  return { users: counts.user, groups: counts.group }
}

function requireEnd(
  end: Counts | undefined,
  counted: Counts,
  last: number,
  fail: (why: string) => Error,
): void {
  if (end === undefined) {
    const where = last === 0 ? 'it printed nothing' : `its output stops after line ${last}`
    throw fail(`${where} without the last line {"complete": true, "users": …, "groups": …}`)
  }
  for (const kind of ['users', 'groups'] as const) {
    if (end[kind] === counted[kind]) continue
    throw fail(`its last line says ${end[kind]} ${kind}, and it printed ${counted[kind]}`)
  }
}
