import { sql } from 'kysely'
import type { ResourceName } from '../resources/resources.ts'
import { SCHEMA, type Trx } from './database.ts'

/** What an operator has removed or revoked so far. */
export interface Removed {
  has(resource: ResourceName, id: number): boolean
  isRevoked(tokenHash: string): boolean
}

export async function readRemoved(trx: Trx): Promise<Removed> {
  const { rows: gone } = await sql<{ key: string }>`
    select resource || ' ' || id as key from ${sql.id(SCHEMA, 'removed_resources')}`.execute(trx)
  const { rows: tokens } = await sql<{ hash: string }>`
    select hash from ${sql.id(SCHEMA, 'revoked_tokens')}`.execute(trx)
  const keys = new Set(gone.map(({ key }) => key))
  const revoked = new Set(tokens.map(({ hash }) => hash))
  return { has: (resource, id) => keys.has(`${resource} ${id}`), isRevoked: (hash) => revoked.has(hash) }
}
