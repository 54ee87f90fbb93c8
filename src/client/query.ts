import type { z } from 'zod'

/** The parameters of a call, not yet validated. */
export type CallParams = Readonly<Record<string, unknown>>

type Value = string | number | boolean | undefined | { readonly [name: string]: Value }

interface PageParams {
  readonly page?: number | undefined
  readonly perPage?: number | undefined
}

/**
 * Encodes the query of a request, with its question mark, or as an empty string without parameters: the parameters that
 * the contract names (an object as `filters[type]=…`) and the page. Returns a problem for text that is not well-formed
 * Unicode, because it would arrive changed.
 */
export function encodeQuery(
  schema: z.ZodObject | undefined,
  params: CallParams,
  { page, perPage }: PageParams,
): { readonly query: string } | { readonly problem: string } {
  const names = Object.keys(schema?.shape ?? {})
  const pairs = names.flatMap((name) => pairsOf(name, params[name] as Value))
  pairs.push(...pairsOf('page', page), ...pairsOf('per_page', perPage))
  const broken = pairs.find(([, text]) => !text.isWellFormed())
  if (broken !== undefined) return { problem: `${broken[0]} is not well-formed Unicode` }
  return { query: pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}` }
}

function pairsOf(name: string, value: Value): [name: string, text: string][] {
  if (value === undefined) return []
  if (typeof value !== 'object') return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, inner]) => pairsOf(`${name}[${key}]`, inner))
}
