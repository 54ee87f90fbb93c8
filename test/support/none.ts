import { expect } from 'vitest'

/** For `toMatchObject`, in which `{}` matches every object: an object without any property. */
export const NONE: unknown = expect.toSatisfy(
  (value: object) => Object.keys(value).length === 0,
  'an object without any property',
)
