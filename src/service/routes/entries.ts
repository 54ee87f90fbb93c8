import { type FieldError, fieldProblem, type Problem } from '../http/problem.ts'
import { valueErrors, type WrittenValues } from '../values.ts'

/** Throws a `Problem` (value-not-allowed) that names every entry and every value that may not be written. */
export function checkEntries(
  list: string,
  entries: readonly WrittenValues[],
  allowedDomains: readonly string[],
): void {
  const errors = entries.flatMap((entry, index): FieldError[] => {
    const field = `${list}[${index}]`
    if (!isFindable(entry)) return [{ field, message: 'must have external_id, email or name' }]
    return valueErrors(entry, allowedDomains, `${field}.`)
  })
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
}

/** An entry without these fields could never be found or removed, because answers show no others. */
function isFindable({ external_id, email, name }: WrittenValues): boolean {
  return external_id !== undefined || email !== undefined || name !== undefined
}

/** As `checkEntries` for a form that is one entry. */
export function checkValues(values: WrittenValues, allowedDomains: readonly string[]): void {
  const errors = valueErrors(values, allowedDomains)
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
}

/** For external ids that the directory already has, or that the request repeats. */
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
