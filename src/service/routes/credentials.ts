import type { NewEvent, Origin } from '../events/event.ts'
import { generatePassword } from '../password.ts'
import { refuseToWait } from '../http/limits.ts'
import { notFound, Problem } from '../http/problem.ts'
import type { RateLimit } from '../http/rate-limiter.ts'
import * as store from '../store/credentials.ts'
import { recordEvents } from '../store/events.ts'
import { findSubscription } from '../store/subscriptions.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'
import { renderSubscription } from './render-subscription.ts'

/** For each contact: more than a contact opens, and so few that a stolen token does not empty a vault at once. */
export const CREDENTIAL_READS: RateLimit = { requests: 60, per: 60_000 }

/** Returns the decrypted values only after the event of the read is committed. */
export async function readCredentials(
  { db, vault, credentialReads }: HandlerDeps,
  { grant, origin, subscriptionId }: Call<'readCredentials'>,
): Promise<ResponseOf<'readCredentials'>> {
  refuseToWait(credentialReads.take(grant.contactId))
  return db.transaction().execute(async (trx) => {
    const row = await store.findCredentials(trx, grant.contactId, subscriptionId)
    if (row === undefined) throw notFound()
    if (!row.permissions.can_view_password) {
      throw new Problem('not-permitted', 'The credentials of this subscription may not be read.')
    }
    const values = store.openCredentials(vault, row)
    await recordEvents(trx, origin, [eventOf(origin, row, 'read')])
    return row.kind === 'app' ? { login: values['login'], password: values['password'] } : values
  })
}

export async function resetPassword(
  { db, vault, estimate }: HandlerDeps,
  { grant, origin, subscriptionId }: Call<'resetPassword'>,
): Promise<ResponseOf<'resetPassword'>> {
  return db.transaction().execute(async (trx) => {
    const row = await store.lockCredentials(trx, grant.contactId, subscriptionId)
    if (row === undefined) throw notFound()
    requireReset(row)
    const { login = '' } = store.openCredentials(vault, row)
    const password = generatePassword()
    const strength = estimate(password, [login, row.name])
    await store.updateCredentials(trx, vault, row.id, { login, password }, strength)
    const changed = await findSubscription(trx, grant.contactId, row.id)
    if (changed === undefined) throw notFound()
    await recordEvents(trx, origin, [eventOf(origin, row, 'update')])
    return renderSubscription(changed)
  })
}

/** Throws a `Problem`. Checks the permission first: a contact without it learns nothing else. */
function requireReset(row: store.CredentialsRow): void {
  if (!row.permissions.can_reset_password) {
    throw new Problem('not-permitted', 'The password of this subscription may not be reset.')
  }
  if (row.kind !== 'app') {
    throw new Problem('not-supported', 'A vault item has no password that could be reset.')
  }
  if (!row.capabilities.has_password_reset) {
    throw new Problem('not-supported', `Passwords of ${row.provider_name} cannot be reset.`)
  }
}

function eventOf(
  { actor }: Origin,
  { id, name }: store.CredentialsRow,
  operation: 'read' | 'update',
): NewEvent {
  const subject = { type: 'subscription', id, name, email: '' } as const
  return operation === 'read'
    ? {
        type: 'read_credentials',
        operation,
        description: `${actor.name} read the credentials of ${name}.`,
        subject,
      }
    : {
        type: 'reset_password',
        operation,
        description: `${actor.name} reset the password of ${name}.`,
        subject,
      }
}
