import type { z } from 'zod'
import { idProblem } from './value-problem.ts'

export type CallParams = Readonly<Record<string, unknown>>

type Value = string | number | boolean | undefined | { readonly [name: string]: Value }

interface PageParams {
  readonly page?: number | undefined
  readonly perPage?: number | undefined
}

/**
 * Encodes the contract's parameters (an object as `filters[type]=…`) and the page, after a question mark; empty without
 * parameters. Returns a problem for an id or a page that is not a whole number from 1, and for text that is not
 * well-formed Unicode, because it would arrive changed.
 */
export function encodeQuery(
  schema: z.ZodObject | undefined,
  params: CallParams,
  { page, perPage }: PageParams,
): { readonly query: string } | { readonly problem: string } {
  const names = Object.keys(schema?.shape ?? {})
  const pairs = names.flatMap((name) => pairsOf(name, params[name] as Value))
  pairs.push(...pairsOf('page', page), ...pairsOf('per_page', perPage))
  const problem = pairs.map(problemOf).find((found) => found !== undefined)
  if (problem !== undefined) return { problem }
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  return { query: pairs.length === 0 ? '' : `?${query.toString()}` }
}

type Pair = readonly [name: string, value: unknown]

/** Numbers in a query: ids, as in `filters[contact_id]`, and the page. */
const NUMBER_NAME = /_id\]?$|^(per_)?page$/

function problemOf([name, value]: Pair): string | undefined {
  if (NUMBER_NAME.test(name)) return idProblem(name, value)
  return String(value).isWellFormed() ? undefined : `${name} is not well-formed Unicode`
}

function pairsOf(name: string, value: Value): Pair[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
  return Object.entries(value).flatMap(([key, inner]) => pairsOf(`${name}[${key}]`, inner))
}
