import type { Protection } from '../protection.ts'

/** The service: `src/service/`. */
export const SERVICE: readonly Protection[] = []
