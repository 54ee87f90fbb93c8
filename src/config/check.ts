import { z } from 'zod'
import { sentenceOf } from '../issue-sentence.ts'
import { crossFaults } from './cross-faults.ts'
import type { Fault, OptionPath } from './document.ts'
import { nearest } from './nearest.ts'
import { configSchema, type ParsedConfig } from './schema.ts'

export type CheckResult =
  | { readonly config: ParsedConfig; readonly faults: readonly [] }
  | { readonly config: undefined; readonly faults: readonly Fault[] }

/** Checks what was read from the file and reports every fault, of single options and between options. */
export function checkConfig(value: unknown): CheckResult {
  // An empty file is an empty section.
  const raw = value ?? {}
  const knownKeys = new Map<string, readonly string[]>()
  const result = configSchema.safeParse(raw, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') knownKeys.set(keyOf(issue.path), shapeKeys(issue.inst))
      return sentenceOf(issue)
    },
  })
  const own = result.success ? [] : result.error.issues.flatMap((issue) => toFaults(issue, knownKeys))
  const faults = [...own, ...crossFaults(raw)]
  if (result.success && faults.length === 0) return { config: result.data, faults: [] }
  return { config: undefined, faults }
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
