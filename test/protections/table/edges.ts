import type { Protection } from '../protection.ts'

/** Client, target, configuration, command line and pages. */
export const EDGES: readonly Protection[] = []
