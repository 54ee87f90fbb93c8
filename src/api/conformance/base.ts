import type { Operation } from '../contract/endpoints.ts'
import type { ApiRequest } from './request.ts'
import { emailDomain, entryForm, entryId, first, type Item } from './fixtures.ts'
import { SkipCase } from './result.ts'
import type { Session } from './session.ts'

/** No service uses this id before it has two billion entries. */
export const UNUSED_ID = '2147483645'

/**
 * A valid request of the operation that can be sent repeatedly; only #7 and #11 delete their entry. Throws `SkipCase`
 * where the request has no subject.
 */
export function baseRequest(session: Session, operation: Operation): Promise<ApiRequest> {
  return BASE_REQUESTS[operation](session)
}

const BASE_REQUESTS: { readonly [O in Operation]: (session: Session) => Promise<ApiRequest> } = {
  listDirectories: async () => ({}),
  getDirectory: async () => ({}),
  listUsers: async () => ({}),
  createUsers: async (session) => entryForm('user', session.newId()),
  getUser: (session) => entryRequest(session, 'user'),
  updateUser: async (session) => ({ ...(await entryRequest(session, 'user')), form: [['name', newName()]] }),
  deleteUser: (session) => entryRequest(session, 'user'),
  listGroups: async () => ({}),
  createGroups: async (session) => entryForm('group', session.newId()),
  getGroup: (session) => entryRequest(session, 'group'),
  deleteGroup: (session) => entryRequest(session, 'group'),
  updateGroup: async (session) => ({
    ...(await entryRequest(session, 'group')),
    form: [['name', newName()]],
  }),
  listSubscriptions: async () => ({}),
  getSubscription: async (session) => subscriptionRequest(await first(session, 'listSubscriptions', 'id')),
  updateSubscription: unchanged,
  createAssertion: async (session) => {
    const subscription = await first(session, 'listSubscriptions', 'id', hasSaml)
    return { ...subscriptionRequest(subscription), form: [['RelayState', 'check']] }
  },
  readCredentials: async (session) =>
    subscriptionRequest(await first(session, 'listSubscriptions', 'id', canViewPassword)),
  resetPassword: async ({ tested }) => {
    if (tested.resetSubscriptionId !== undefined) {
      return { params: { subscription_id: String(tested.resetSubscriptionId) } }
    }
    throw new SkipCase('it would change a password for good, and no subscription was named for that')
  },
  listEvents: async () => ({}),
  listOrganizationGroups: async () => ({}),
  getOrganizationGroup: async (session) => ({
    params: { group_id: String((await first(session, 'listOrganizationGroups', 'id'))['id']) },
  }),
}

async function entryRequest(session: Session, kind: 'user' | 'group'): Promise<ApiRequest> {
  return { params: { external_id: await entryId(session, kind) } }
}

function newName(): string {
  return `Check of the API, ${Math.random().toString(36).slice(2, 8)}`
}

function subscriptionRequest(subscription: Item): ApiRequest {
  return { params: { subscription_id: String(subscription['id']) } }
}

async function unchanged(session: Session): Promise<ApiRequest> {
  const subscription = await first(session, 'listSubscriptions', 'id')
  return {
    ...subscriptionRequest(subscription),
    form: (['favorite', 'name', 'position'] as const).map((name) => [name, String(subscription[name])]),
  }
}

function hasSaml({ installation }: Item): boolean {
  return (installation as { configuration?: { saml?: unknown } } | undefined)?.configuration?.saml === true
}

function canViewPassword({ permissions }: Item): boolean {
  return (permissions as { can_view_password?: unknown } | undefined)?.can_view_password === true
}

/** A user's new name and e-mail; only the name if no e-mail domain is known. */
export async function userChange(
  session: Session,
): Promise<{ readonly name: string; readonly email?: string }> {
  const name = newName()
  try {
    return { name, email: `${session.newId()}@${await emailDomain(session)}` }
  } catch (error) {
    if (error instanceof SkipCase) return { name }
    throw error
  }
}
