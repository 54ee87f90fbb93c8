import type { z } from 'zod'

/** Follows the name of the value. A value that needs another sentence has it in its schema. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string {
  const must = (issue.input ?? undefined) === undefined ? 'is missing; it must' : 'must'
  if (issue.code === 'invalid_type') return `${must} be ${typeName(issue.expected)}`
  if (issue.code === 'invalid_value') return `${must} be ${listOr(issue.values.map(String))}`
  const numeric = issue.origin === 'number' || issue.origin === 'int'
  if (issue.code === 'too_small' && !numeric && issue.minimum === 1) return 'must not be empty'
  if (issue.code === 'too_small') return `must not be ${numeric ? 'less' : 'shorter'} than ${issue.minimum}`
  if (issue.code === 'too_big') return `must not be ${numeric ? 'more' : 'longer'} than ${issue.maximum}`
  return 'is not valid'
}

function typeName(expected: string): string {
  const names: Readonly<Record<string, string>> = {
    object: 'a section with options',
    array: 'a list',
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
  }
  return names[expected] ?? expected
}

function listOr(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}
