import { expect } from 'vitest'

/** Matches only an object without properties: in `toMatchObject`, `{}` would match every object. */
export const EMPTY_OBJECT: unknown = expect.toSatisfy(
  (value: object) => Object.keys(value).length === 0,
  'an object without any property',
)
