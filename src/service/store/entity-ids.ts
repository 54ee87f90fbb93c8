import { DirsyncdError } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import type { Trx } from './database.ts'

/**
 * Throws `usage` where another organization has the SAML entity id: an application that trusts one of them would take the
 * assertions of the other for those of the first. Call `lockResources` first.
 */
export async function requireFreeEntityId(
  trx: Trx,
  { id, entityId }: { readonly id: number; readonly entityId?: string | undefined },
): Promise<void> {
  if (entityId === undefined) return
  const other = await trx
    .selectFrom('organizations')
    .select('id')
    .where('entity_id', '=', entityId)
    .where('id', '<>', id)
    .executeTakeFirst()
  if (other === undefined) return
  throw new DirsyncdError(
    'usage',
    `Organization ${other.id} has the entity id ${printable(entityId)} already; give organization ${id} another one.`,
  )
}
