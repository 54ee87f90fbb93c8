import { hash } from 'node:crypto'
import type { Pool } from 'pg'
import { SCHEMA } from './database.ts'

/** The status of a contact whose tokens are refused. */
const BLOCKED = 'blocked'

/** What a token allows: its contact, the organization of the contact, and scopes. */
export interface Grant {
  readonly contactId: number
  readonly contactName: string
  readonly contactEmail: string
  readonly organizationId: number
  readonly allowedDomains: readonly string[]
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** The stored form of a token. A token is long and random, so nobody can guess it from its unsalted hash. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** Named, so that PostgreSQL plans it once for each connection, because every request begins with it. */
const FIND_GRANT = {
  name: 'find-grant',
  text: `select c.id as "contactId", c.name as "contactName", c.email as "contactEmail", o.id as "organizationId",
      o.allowed_domains as "allowedDomains", t.scopes, t.expires_at as "expiresAt"
    from ${SCHEMA}.tokens t
    join ${SCHEMA}.contacts c on c.id = t.contact_id
    join ${SCHEMA}.organizations o on o.id = c.organization_id
    where t.hash = $1 and c.status <> '${BLOCKED}'`,
}

/** The grant of the token, even of an expired one; `undefined` for an unknown one and for one of a blocked contact. */
export async function findGrant(pool: Pool, token: string): Promise<Grant | undefined> {
  const { rows } = await pool.query<Grant>({ ...FIND_GRANT, values: [hashToken(token)] })
  return rows[0]
}
