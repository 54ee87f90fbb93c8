import type { Protection } from '../protection.ts'

/** CSV, commands, mapping and what all sources share: `src/source/`, but for LDAP. */
export const SOURCES: readonly Protection[] = []
