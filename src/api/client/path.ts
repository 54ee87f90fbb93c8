import { EXTERNAL_ID } from '../contract/endpoints.ts'
import { idProblem, shown } from './value-problem.ts'

/** Returns a problem for a value that no path can hold: the id `..` would turn `/users/..` into another path. */
export function fillPath(
  template: string,
  params: Readonly<Record<string, unknown>>,
): { readonly path: string } | { readonly problem: string } {
  let problem: string | undefined
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    problem ??= name === EXTERNAL_ID ? externalIdProblem(value) : idProblem(name, value)
    return problem === undefined ? encodeURIComponent(String(value)) : ''
  })
  return problem === undefined ? { path } : { problem }
}

function externalIdProblem(value: unknown): string | undefined {
  if (value === undefined) return `${EXTERNAL_ID} is missing`
  if (typeof value !== 'string') return `${EXTERNAL_ID} is ${shown(value)}, not a text`
  if (value === '') return `${EXTERNAL_ID} is empty`
  if (value === '.' || value === '..') return `${EXTERNAL_ID} "${value}" cannot be part of a URL path`
  if (!value.isWellFormed()) return `${EXTERNAL_ID} is not well-formed Unicode`
  return undefined
}
