import type { Configuration, Provider } from '../../api/contract/subscription.ts'
import type { ServiceProvider } from '../saml/response.ts'
import type { Database, Trx } from './database.ts'

/** The data for signing in to the installation of a subscription. */
export interface Launch {
  readonly name: string
  readonly kind: 'app' | 'vault-item'
  readonly login: string
  readonly configuration: Configuration
  readonly serviceProvider: ServiceProvider | null
  readonly capabilities: Provider['capabilities']
  /** Of the organization, which signs. */
  readonly entityId: string
}

/** `undefined` where the contact has no such subscription. */
export async function findLaunch(
  db: Database,
  contactId: number,
  subscriptionId: number,
): Promise<Launch | undefined> {
  return db
    .selectFrom('subscriptions as s')
    .innerJoin('installations as i', 'i.id', 's.installation_id')
    .innerJoin('providers as p', 'p.id', 'i.provider_id')
    .innerJoin('organizations as o', 'o.id', 'i.organization_id')
    .select([
      's.name',
      's.kind',
      's.login',
      'i.configuration',
      'i.service_provider as serviceProvider',
      'p.capabilities',
      'o.entity_id as entityId',
    ])
    .where('s.id', '=', subscriptionId)
    .where('s.contact_id', '=', contactId)
    .executeTakeFirst()
}

/** Returns whether there is such a subscription. Never replaces a login by an earlier one. */
export async function recordLogin(
  trx: Trx,
  contactId: number,
  subscriptionId: number,
  at: Date,
): Promise<boolean> {
  const updated = await trx
    .updateTable('subscriptions')
    .set((eb) => ({ last_login: eb.fn<Date>('greatest', [eb.ref('last_login'), eb.val(at)]) }))
    .where('id', '=', subscriptionId)
    .where('contact_id', '=', contactId)
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}
