import { RE2JS } from 're2js'
import { charge, type Context } from './context.ts'

/** A compiled regular expression of RE2: its time grows only linearly with the length of the text. */
export interface Regex {
  /** Whether it matches anywhere in the text. */
  test(text: string, context: Context): boolean
  replace(text: string, replacement: Replacement, context: Context): string
  /** The number of groups, and the numbers of the named ones. */
  readonly groupCount: number
  readonly groups: Readonly<Record<string, number>>
}

/** Literal texts and the numbers of groups. */
export type Replacement = readonly (string | number)[]

const MAX_PATTERN = 500
const MAX_PROGRAM = 1_000

/** One unit pays for so many characters times program instructions. To test is quicker than to find. */
const STEPS_TO_TEST = 8
const STEPS_TO_FIND = 2

/** Throws an error that describes the fault of the pattern. */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN)
    throw new Error(`it has ${pattern.length} characters; the limit is ${MAX_PATTERN}`)
  const regex = RE2JS.compile(pattern)
  const size = regex.programSize()
  if (size > MAX_PROGRAM) throw new Error('it is too large; use smaller numbers of repetitions')
  const cost = (length: number, steps: number) => Math.ceil(((length + 1) * size) / steps)
  return {
    groupCount: regex.groupCount(),
    groups: regex.namedGroups(),
    test(text, context) {
      charge(context, cost(text.length, STEPS_TO_TEST))
      return regex.test(text)
    },
    replace(text, replacement, context) {
      const matcher = regex.matcher(text)
      let whole = ''
      let from = 0
      // Each search may read the whole rest of the text, so each is charged for all of it.
      charge(context, cost(text.length, STEPS_TO_FIND))
      while (matcher.find()) {
        const before = whole.length
        whole += text.slice(from, matcher.start())
        for (const part of replacement) whole += typeof part === 'string' ? part : (matcher.group(part) ?? '')
        from = matcher.end()
        charge(context, whole.length - before + cost(text.length - from, STEPS_TO_FIND))
      }
      return whole + text.slice(from)
    },
  }
}

/** Takes `$1` and `${name}` for groups and `$$` for a dollar. Throws an error that describes the fault. */
export function compileReplacement(text: string, regex: Regex): Replacement {
  const parts: (string | number)[] = []
  for (const [piece, number, name] of text.matchAll(/\$(?:(\d)|\{(\w+)\}|\$|)|[^$]+/g)) {
    if (!piece.startsWith('$')) parts.push(piece)
    else if (piece === '$$') parts.push('$')
    else if (number !== undefined) parts.push(groupNumber(Number(number), piece, regex))
    else if (name !== undefined) parts.push(groupNumber(namedGroup(name, regex), piece, regex))
    else throw new Error('"$" must be followed by a group, such as $1 or ${name}; write $$ for a dollar sign')
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
