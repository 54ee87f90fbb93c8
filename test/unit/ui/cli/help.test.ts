import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../../../../src/base/terminal/command.ts'
import { createProgram as createService } from '../../../../src/service/cli/program.ts'
import { createProgram } from '../../../../src/ui/cli/program.ts'

/** The help of every command as a terminal of so many columns gets it; `undefined`: not a terminal. */
function helps(columns: number | undefined): ReadonlyMap<string, string> {
  let out = ''
  const stdout = { write: (text: string) => void (out += text), columns }
  const io = { argv: [], stdout, stderr: stdout }
  const found = new Map<string, string>()
  const visit = (command: Command) => {
    out = ''
    command.outputHelp()
    found.set(nameOf(command), out)
    command.commands.forEach(visit)
  }
  for (const create of [createProgram, createService]) visit(create(io, async () => undefined))
  return found
}

const wordsOf = (text: string) => text.split(/\s+/)

/** Whoever pastes an example needs it in one piece. */
const EXAMPLE = /^ {2}(dirsyncd|access-service) |\\$|^ {4}-/

describe.each([
  ['60 columns', 60, 60],
  ['80 columns', 80, 80],
  ['100 columns', 100, 100],
  ['no terminal', undefined, 100],
])('on %s', (_where, columns, width) => {
  test('no line of the help of any command is longer than that, but for examples', () => {
    const all = helps(columns)
    expect(all.size).toBeGreaterThan(50)
    const long = [...all.values()]
      .flatMap((help) => help.split('\n'))
      .filter((line) => line.length > width && !EXAMPLE.test(line))
    expect(long).toEqual([])
  })

  test('the help of every command has the words that it has on a wide terminal', () => {
    const wide = helps(200)
    for (const [name, help] of helps(columns))
      expect({ name, words: wordsOf(help) }).toEqual({ name, words: wordsOf(wide.get(name)!) })
  })
})
