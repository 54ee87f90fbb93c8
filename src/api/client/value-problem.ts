/** `undefined` for a safe integer from 1. The types do not exclude NaN or 1.5. */
export function idProblem(name: string, value: unknown): string | undefined {
  if (value === undefined) return `${name} is missing`
  if (Number.isSafeInteger(value) && Number(value) >= 1) return undefined
  return `${name} is ${shown(value)}, not a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`
}

/** Every number in the API description is whole. */
export function wholeNumberProblem(name: string, value: number): string | undefined {
  return Number.isSafeInteger(value) ? undefined : `${name} is ${value}, not a whole number`
}

/** For an error message, on one short line. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || value === null) return String(value)
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
