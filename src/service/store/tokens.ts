import { hash } from 'node:crypto'
import type { Database } from './database.ts'

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

/** The grant of the token, even of an expired one; `undefined` for an unknown one. */
export async function findGrant(db: Database, token: string): Promise<Grant | undefined> {
  return db
    .selectFrom('tokens as t')
    .innerJoin('contacts as c', 'c.id', 't.contact_id')
    .innerJoin('organizations as o', 'o.id', 'c.organization_id')
    .select([
      'c.id as contactId',
      'c.name as contactName',
      'c.email as contactEmail',
      'o.id as organizationId',
      'o.allowed_domains as allowedDomains',
      't.scopes',
      't.expires_at as expiresAt',
    ])
    .where('t.hash', '=', hashToken(token))
    .executeTakeFirst()
}
