import type { NewEvent, Party } from '../events/event.ts'
import { fieldProblem, notFound } from '../http/problem.ts'
import { recordEvents } from '../store/events.ts'
import * as store from '../store/subscriptions.ts'
import { subscriptionErrors } from '../values.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'
import { renderSubscription, renderWithSubscriber } from './render-subscription.ts'

/** With `all` one page holds the whole list: `per-page` is the length of the list, and at least 1. */
export async function listSubscriptions(
  { db }: HandlerDeps,
  { grant, page, query }: Call<'listSubscriptions'>,
): Promise<ResponseOf<'listSubscriptions'>> {
  if (query.all === true) {
    const rows = await store.listAllSubscriptions(db, grant.contactId)
    return { items: rows.map(renderSubscription), total: rows.length, perPage: Math.max(rows.length, 1) }
  }
  const { items, total } = await store.listSubscriptions(db, grant.contactId, page)
  return { items: items.map(renderSubscription), total }
}

export async function getSubscription(
  { db }: HandlerDeps,
  { grant, origin, subscriptionId }: Call<'getSubscription'>,
): Promise<ResponseOf<'getSubscription'>> {
  const row = await store.findSubscriptionWithSubscriber(db, grant.contactId, subscriptionId)
  if (row === undefined) throw notFound()
  return renderWithSubscriber(row, origin.at)
}

export async function updateSubscription(
  { db }: HandlerDeps,
  { grant, origin, subscriptionId, form }: Call<'updateSubscription'>,
): Promise<ResponseOf<'updateSubscription'>> {
  const errors = subscriptionErrors(form)
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
  return db.transaction().execute(async (trx) => {
    const row = await store.lockSubscription(trx, grant.contactId, subscriptionId)
    if (row === undefined) throw notFound()
    const changes = changesOf(row, form)
    if (Object.keys(changes).length > 0) {
      await store.updateSubscription(trx, row.id, changes)
      await recordEvents(trx, origin, [changeEvent(origin.actor, row, changes)])
    }
    return renderSubscription({ ...row, ...changes })
  })
}

type Changes = Partial<store.SubscriptionValues>

function changesOf(row: store.SubscriptionRow, form: Call<'updateSubscription'>['form']): Changes {
  const { name, favorite, position } = form
  return {
    ...(name === undefined || name === row.name ? {} : { name }),
    ...(favorite === undefined || favorite === row.favorite ? {} : { favorite }),
    ...(position === undefined || position === row.position ? {} : { position }),
  }
}

/** The subject has the name from before the change. */
function changeEvent(actor: Party, { id, name }: store.SubscriptionRow, changes: Changes): NewEvent {
  const parts = [
    ...(changes.name === undefined ? [] : [`renamed to ${changes.name}`]),
    ...(changes.favorite === undefined ? [] : [changes.favorite ? 'now a favorite' : 'no longer a favorite']),
    ...(changes.position === undefined ? [] : [`moved to position ${changes.position}`]),
  ]
  return {
    type: 'update_subscription',
    operation: 'update',
    description: `${actor.name} changed the subscription ${name}: ${parts.join(', ')}.`,
    subject: { type: 'subscription', id, name, email: '' },
  }
}
