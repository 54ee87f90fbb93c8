import { hash } from 'node:crypto'
import type { Database } from './database.ts'

/** What a token gives: the contact it belongs to, that contact's organization, and scopes. */
export interface Grant {
  readonly contactId: number
  readonly contactName: string
  readonly contactEmail: string
  readonly organizationId: number
  readonly allowedDomains: readonly string[]
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** The form in which a token is kept: a token is long and random, so a plain hash cannot be guessed back. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** What the token gives, also when it has expired; `undefined` for an unknown one. */
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
