import { type FieldError, fieldProblem, type Problem } from '../http/problem.ts'
import { valueErrors, type WrittenValues } from '../values.ts'

/** Throws a `Problem` (value-not-allowed) that names every value of these entries that may not be written. */
export function checkEntries(
  list: string,
  entries: readonly WrittenValues[],
  allowedDomains: readonly string[],
): void {
  const errors = entries.flatMap((entry, index) => valueErrors(entry, allowedDomains, `${list}[${index}].`))
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
}

/** Like `checkEntries` for a form that is one entry. */
export function checkValues(values: WrittenValues, allowedDomains: readonly string[]): void {
  const errors = valueErrors(values, allowedDomains)
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
}

/** The problem of a request with external ids that the directory has already, or that the request has twice. */
export function idsTaken(
  list: string,
  entries: readonly { readonly external_id?: string | undefined }[],
  taken: ReadonlySet<string>,
): Problem {
  const seen = new Set(taken)
  const errors: FieldError[] = []
  for (const [index, { external_id: id }] of entries.entries()) {
    if (id === undefined) continue
    if (seen.has(id)) errors.push({ field: `${list}[${index}].external_id`, message: 'is taken' })
    seen.add(id)
  }
  return fieldProblem('external-id-taken', errors)
}
