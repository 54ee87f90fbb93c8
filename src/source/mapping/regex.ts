import { RE2JS } from 're2js'
import { boundedText, charge, type Run } from './formula.ts'

/** A compiled regular expression of RE2, whose time grows with the length of the text and never explodes. */
export interface Regex {
  /** Whether it is found anywhere in the text. */
  test(text: string, run: Run): boolean
  /** The text with every place where it is found replaced. */
  replace(text: string, replacement: Replacement, run: Run): string
  /** How many groups it has, and which number the named ones have. */
  readonly groupCount: number
  readonly groups: Readonly<Record<string, number>>
}

/** Literal texts and the numbers of groups. */
export type Replacement = readonly (string | number)[]

const MAX_PATTERN = 500
const MAX_PROGRAM = 1_000

/** Characters times instructions of the program that cost one unit of the budget: to test is quicker than to find. */
const STEPS_TO_TEST = 8
const STEPS_TO_FIND = 2

/** Throws an error that says what is wrong with the pattern. */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN)
    throw new Error(`it has ${pattern.length} characters, ${MAX_PATTERN} are the most`)
  const regex = RE2JS.compile(pattern)
  const size = regex.programSize()
  if (size > MAX_PROGRAM) throw new Error('it is too large; use smaller numbers of repetitions')
  const cost = (length: number, steps: number) => Math.ceil(((length + 1) * size) / steps)
  return {
    groupCount: regex.groupCount(),
    groups: regex.namedGroups(),
    test(text, run) {
      charge(run, cost(text.length, STEPS_TO_TEST))
      return regex.test(text)
    },
    replace(text, replacement, run) {
      const matcher = regex.matcher(text)
      let whole = ''
      let from = 0
      // Each search may look at everything that is left, so each one is paid for like this.
      charge(run, cost(text.length, STEPS_TO_FIND))
      while (matcher.find()) {
        const before = whole.length
        whole += text.slice(from, matcher.start())
        for (const part of replacement) whole += typeof part === 'string' ? part : (matcher.group(part) ?? '')
        from = matcher.end()
        charge(run, whole.length - before + cost(text.length - from, STEPS_TO_FIND))
      }
      return boundedText(run, whole + text.slice(from))
    },
  }
}

/** Takes `$1` and `${name}` for groups and `$$` for a dollar. Throws an error that says what is wrong. */
export function compileReplacement(text: string, regex: Regex): Replacement {
  const parts: (string | number)[] = []
  for (const [piece, number, name] of text.matchAll(/\$(?:(\d)|\{(\w+)\}|\$|)|[^$]+/g)) {
    if (!piece.startsWith('$')) parts.push(piece)
    else if (piece === '$$') parts.push('$')
    else if (number !== undefined) parts.push(groupNumber(Number(number), piece, regex))
    else if (name !== undefined) parts.push(groupNumber(namedGroup(name, regex), piece, regex))
    else throw new Error('"$" is followed by no group, such as $1 or ${name}; a plain one is written $$')
  }
  return parts
}

function namedGroup(name: string, { groups }: Regex): number {
  if (/^\d+$/.test(name)) return Number(name)
  return Object.hasOwn(groups, name) ? (groups[name] ?? Number.NaN) : Number.NaN
}

function groupNumber(group: number, piece: string, { groupCount }: Regex): number {
  if (group <= groupCount) return group
  throw new Error(`the regular expression has no group for "${piece}"`)
}
