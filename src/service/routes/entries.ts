import { type FieldError, fieldProblem } from '../http/problem.ts'
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

/** Throws a `Problem` (external-id-taken) for ids that the directory has already or the request has twice. */
export function checkIdsFree(
  list: string,
  entries: readonly { readonly external_id?: string | undefined }[],
  taken: ReadonlySet<string>,
): void {
  const seen = new Set(taken)
  const errors: FieldError[] = []
  for (const [index, { external_id: id }] of entries.entries()) {
    if (id === undefined) continue
    if (seen.has(id)) errors.push({ field: `${list}[${index}].external_id`, message: 'is taken' })
    seen.add(id)
  }
  if (errors.length > 0) throw fieldProblem('external-id-taken', errors)
}

/** The external ids of the entries that have one. */
export function externalIds(entries: readonly { readonly external_id?: string | undefined }[]): string[] {
  return entries.flatMap(({ external_id: id }) => (id === undefined ? [] : [id]))
}
