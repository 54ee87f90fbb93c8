import type { Protection } from '../protection.ts'

/** The LDAP source: `src/source/ldap/`. */
export const LDAP: readonly Protection[] = []
