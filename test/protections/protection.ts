/** A patch that removes one protection from `src/`, and the test that must fail then. */
export interface Protection {
  readonly name: string
  /** Relative to `test/`. */
  readonly test: string
  /** Text of the title of a test or describe block in that file. */
  readonly title: string
  readonly edits: readonly Edit[]
}

export interface Edit {
  /** Relative to `src/`. */
  readonly file: string
  /** These lines occur in the file exactly once. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/**
 * Reads a table. An entry is a line `name | file | test | title` and the lines of a unified diff without its positions;
 * a line `@ file` begins another edit, and a line with `#` is a heading.
 * @throws {Error} where a line is none of these
 */
export function parseTable(text: string): readonly Protection[] {
  const entries: { head: readonly string[]; hunks: { file: string; lines: string[] }[] }[] = []
  for (const line of text.split('\n')) {
    const head = line.split(' | ')
    const entry = entries.at(-1)
    if (/^[a-z]/.test(line) && head.length === 4) {
      entries.push({ head, hunks: [{ file: head[1]!, lines: [] }] })
    } else if (entry !== undefined && line.startsWith('@ ')) {
      entry.hunks.push({ file: line.slice(2), lines: [] })
    } else if (entry !== undefined && /^[-+ ]/.test(line)) {
      entry.hunks.at(-1)!.lines.push(line)
    } else if (line !== '' && !line.startsWith('#')) {
      throw new Error(`a table of protections has no such line: ${line}`)
    }
  }
  return entries.map(({ head: [name = '', , test = '', title = ''], hunks }) => ({
    name,
    test,
    title,
    edits: hunks.map(({ file, lines }) => ({
      file,
      before: without('+', lines),
      after: without('-', lines),
    })),
  }))
}

function without(mark: string, lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1))
}

/**
 * Makes an edit in the text of its file.
 * @throws {Error} where its lines do not occur exactly once, or nothing changes
 */
export function edited(text: string, { file, before, after }: Edit): string {
  const lines = text.split('\n')
  const places = [...lines.keys()].filter((at) => before.every((line, index) => lines[at + index] === line))
  if (places.length !== 1) throw new Error(`its lines occur ${places.length} times in src/${file}`)
  const result = lines.toSpliced(places[0]!, before.length, ...after).join('\n')
  if (result === text) throw new Error(`it changes nothing in src/${file}`)
  return result
}
