import type { Operation } from '../contract/endpoints.ts'
import type { ApiRequest } from './request.ts'
import type { Probing } from './probing.ts'
import { emailDomain, entryForm, entryId, first, type Item } from './fixtures.ts'
import { Unchecked } from './verdict.ts'

/** No service uses this id before it has two billion entries. */
export const UNUSED_ID = '2147483645'

/**
 * A valid request of the operation that can be sent repeatedly; only #7 and #11 delete their entry. Throws `Unchecked`
 * where the request has no subject.
 */
export function baseRequest(probing: Probing, operation: Operation): Promise<ApiRequest> {
  return BASE_REQUESTS[operation](probing)
}

const BASE_REQUESTS: { readonly [O in Operation]: (probing: Probing) => Promise<ApiRequest> } = {
  listDirectories: async () => ({}),
  getDirectory: async () => ({}),
  listUsers: async () => ({}),
  createUsers: async (probing) => entryForm('user', probing.newId()),
  getUser: (probing) => entryRequest(probing, 'user'),
  updateUser: async (probing) => ({ ...(await entryRequest(probing, 'user')), form: [['name', newName()]] }),
  deleteUser: (probing) => entryRequest(probing, 'user'),
  listGroups: async () => ({}),
  createGroups: async (probing) => entryForm('group', probing.newId()),
  getGroup: (probing) => entryRequest(probing, 'group'),
  deleteGroup: (probing) => entryRequest(probing, 'group'),
  updateGroup: async (probing) => ({
    ...(await entryRequest(probing, 'group')),
    form: [['name', newName()]],
  }),
  listSubscriptions: async () => ({}),
  getSubscription: async (probing) => subscriptionRequest(await first(probing, 'listSubscriptions', 'id')),
  updateSubscription: unchanged,
  createAssertion: async (probing) => {
    const subscription = await first(probing, 'listSubscriptions', 'id', hasSaml)
    return { ...subscriptionRequest(subscription), form: [['RelayState', 'check']] }
  },
  readCredentials: async (probing) =>
    subscriptionRequest(await first(probing, 'listSubscriptions', 'id', canViewPassword)),
  resetPassword: async ({ tested }) => {
    if (tested.resetSubscriptionId !== undefined) {
      return { params: { subscription_id: String(tested.resetSubscriptionId) } }
    }
    throw new Unchecked('it would change a password for good, and no subscription was named for that')
  },
  listEvents: async () => ({}),
  listOrganizationGroups: async () => ({}),
  getOrganizationGroup: async (probing) => ({
    params: { group_id: String((await first(probing, 'listOrganizationGroups', 'id'))['id']) },
  }),
}

async function entryRequest(probing: Probing, kind: 'user' | 'group'): Promise<ApiRequest> {
  return { params: { external_id: await entryId(probing, kind) } }
}

function newName(): string {
  return `Check of the API, ${Math.random().toString(36).slice(2, 8)}`
}

function subscriptionRequest(subscription: Item): ApiRequest {
  return { params: { subscription_id: String(subscription['id']) } }
}

async function unchanged(probing: Probing): Promise<ApiRequest> {
  const subscription = await first(probing, 'listSubscriptions', 'id')
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
  probing: Probing,
): Promise<{ readonly name: string; readonly email?: string }> {
  const name = newName()
  try {
    return { name, email: `${probing.newId()}@${await emailDomain(probing)}` }
  } catch (error) {
    if (error instanceof Unchecked) return { name }
    throw error
  }
}
