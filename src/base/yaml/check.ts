import { z } from 'zod'
import { sentenceOf } from '../issue-sentence.ts'
import type { Fault, OptionPath } from './document.ts'
import { nearest } from './nearest.ts'

export function checkValues<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { readonly config: z.output<Schema> | undefined; readonly faults: readonly Fault[] } {
  const knownKeys = new Map<string, readonly string[]>()
  // An empty file is an empty section.
  const result = schema.safeParse(value ?? {}, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') knownKeys.set(keyOf(issue.path), shapeKeys(issue.inst))
      return sentenceOf(issue)
    },
  })
  if (result.success) return { config: result.data, faults: [] }
  return { config: undefined, faults: result.error.issues.flatMap((issue) => toFaults(issue, knownKeys)) }
}

function toFaults(issue: z.core.$ZodIssue, knownKeys: ReadonlyMap<string, readonly string[]>): Fault[] {
  const path = toPath(issue.path)
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  const known = knownKeys.get(keyOf(issue.path)) ?? []
  return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, known) }))
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  const help = near === undefined ? `known here are ${known.join(', ')}` : `did you mean ${near}?`
  return `is not a known option; ${help}`
}

function shapeKeys(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function keyOf(path: readonly PropertyKey[] | undefined): string {
  return JSON.stringify(toPath(path))
}

function toPath(path: readonly PropertyKey[] | undefined): OptionPath {
  return (path ?? []).map((segment) => (typeof segment === 'number' ? segment : String(segment)))
}
