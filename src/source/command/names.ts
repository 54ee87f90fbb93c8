/** JSON parsers take the last of repeated names: after a join of two tables, `id` may be the wrong one. */
export function repeatedName(line: string, value: object): string | undefined {
  // Every name ends like this. Strings may contain it too, so only a higher count needs the slow search.
  const most = line.match(/"\s*:/g)?.length ?? 0
  return most > countNames(value) ? findRepeated(line) : undefined
}

function countNames(value: object): number {
  let names = 0
  for (const inner of Object.values(value)) {
    names += 1
    if (typeof inner === 'object' && inner !== null)
      names += Array.isArray(inner) ? 0 : Object.keys(inner).length
  }
  return names
}

/** Goes from string to string; `line` must be valid JSON. */
function findRepeated(line: string): string | undefined {
  const open: Set<string>[] = []
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]
    if (character === '{') open.push(new Set())
    else if (character === '}') open.pop()
    else if (character === '"') {
      const end = endOfString(line, at)
      if (isName(line, end)) {
        const name: string = JSON.parse(line.slice(at, end))
        if (open.at(-1)?.has(name)) return name
        open.at(-1)?.add(name)
      }
      at = end - 1
    }
  }
  return undefined
}

function endOfString(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] === '"') return at + 1
    if (line[at] === '\\') at += 1
  }
  return line.length
}

function isName(line: string, end: number): boolean {
  let at = end
  while (' \t\r'.includes(line[at] ?? '.')) at += 1
  return line[at] === ':'
}
