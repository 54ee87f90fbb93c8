import type { Event, EventParty } from '../../api/contract/event.ts'
import type { Party } from '../events/event.ts'
import { readEventFilters } from '../events/event-filters.ts'
import * as store from '../store/events.ts'
import { timestamp } from '../timestamp.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

/** The JSON-LD context, which defines the properties of a party. */
const CONTEXT = 'https://schema.org'

export async function listEvents(
  { db }: HandlerDeps,
  { organizationId, baseUrl, query, page }: Call<'listEvents'>,
): Promise<ResponseOf<'listEvents'>> {
  const search = readEventFilters(query.filters)
  const events = await store.listEvents(db, organizationId, search, page)
  const addressOf = (party: Party) => partyAddress(party, organizationId, baseUrl)
  return { items: events.items.map((event) => toEvent(event, addressOf)), total: events.total }
}

function toEvent(event: store.EventRow, addressOf: (party: Party) => string): Event {
  const { id, type, operation, created_at, description, actor, subject } = event
  return {
    id,
    type,
    operation,
    created_at: timestamp(created_at),
    description: description as Event['description'],
    actor: toParty(actor, addressOf),
    subject: subject === null ? null : toParty(subject, addressOf),
  }
}

function toParty(party: Party, addressOf: (party: Party) => string): EventParty {
  const { type, id, name, email } = party
  return { '@context': CONTEXT, '@id': addressOf(party), type, id, name, email }
}

/** Also where the API has no endpoint for the party; a URN where `baseUrl` is empty. */
function partyAddress(party: Party, organizationId: number, baseUrl: string): string {
  if (baseUrl === '') return `urn:access-management:organization:${organizationId}:${party.type}:${party.id}`
  return `${baseUrl}/api/v2/organizations/${organizationId}/${pathOf(party)}`
}

function pathOf({ type, id, directoryId, externalId }: Party): string {
  switch (type) {
    case 'contact':
      return `contacts/${id}`
    case 'subscription':
      return `subscriptions/${id}`
    case 'group':
      return `admin/groups/${id}`
    case 'directory_user':
      return externalId === undefined
        ? `directory-users/${id}`
        : `admin/directories/${directoryId}/users/${encodeURIComponent(externalId)}`
    case 'directory_group':
      return `admin/directories/${directoryId}/groups/${encodeURIComponent(externalId ?? '')}`
  }
}
