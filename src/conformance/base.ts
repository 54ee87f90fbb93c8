import type { Operation } from '../contract/endpoints.ts'
import type { Ask } from './request.ts'
import type { Site } from './site.ts'
import { emailDomain, entryForm, entryId, first, type Item } from './subjects.ts'
import { Unchecked } from './verdict.ts'

/** An id that no service gives before it has two thousand million of them. */
export const NO_ID = '2147483645'

/**
 * For each operation a request that succeeds, and that may be sent again and again; only #7 and #11 remove what they
 * are sent for. Throws `Unchecked` where there is nothing to send it for.
 */
export function baseAsk(site: Site, operation: Operation): Promise<Ask> {
  return BASES[operation](site)
}

const BASES: { readonly [O in Operation]: (site: Site) => Promise<Ask> } = {
  listDirectories: async () => ({}),
  getDirectory: async () => ({}),
  listUsers: async () => ({}),
  createUsers: async (site) => entryForm('user', site.newId()),
  getUser: (site) => entryAsk(site, 'user'),
  updateUser: async (site) => ({ ...(await entryAsk(site, 'user')), form: [['name', newName()]] }),
  deleteUser: (site) => entryAsk(site, 'user'),
  listGroups: async () => ({}),
  createGroups: async (site) => entryForm('group', site.newId()),
  getGroup: (site) => entryAsk(site, 'group'),
  deleteGroup: (site) => entryAsk(site, 'group'),
  updateGroup: async (site) => ({ ...(await entryAsk(site, 'group')), form: [['name', newName()]] }),
  listSubscriptions: async () => ({}),
  getSubscription: async (site) => subscriptionAsk(await first(site, 'listSubscriptions', 'id')),
  updateSubscription: unchanged,
  createAssertion: async (site) => {
    const subscription = await first(site, 'listSubscriptions', 'id', hasSaml)
    return { ...subscriptionAsk(subscription), form: [['RelayState', 'check']] }
  },
  readCredentials: async (site) => subscriptionAsk(await first(site, 'listSubscriptions', 'id', maySee)),
  resetPassword: async ({ tested }) => {
    if (tested.resetSubscriptionId !== undefined) {
      return { params: { subscription_id: String(tested.resetSubscriptionId) } }
    }
    throw new Unchecked('it would change a password for good, and no subscription was named for that')
  },
  listEvents: async () => ({}),
  listOrganizationGroups: async () => ({}),
  getOrganizationGroup: async (site) => ({
    params: { group_id: String((await first(site, 'listOrganizationGroups', 'id'))['id']) },
  }),
}

async function entryAsk(site: Site, kind: 'user' | 'group'): Promise<Ask> {
  return { params: { external_id: await entryId(site, kind) } }
}

function newName(): string {
  return `Check of the API, ${Math.random().toString(36).slice(2, 8)}`
}

function subscriptionAsk(subscription: Item): Ask {
  return { params: { subscription_id: String(subscription['id']) } }
}

/** Writes what is there already, so that the request changes nothing whoever takes it. */
async function unchanged(site: Site): Promise<Ask> {
  const subscription = await first(site, 'listSubscriptions', 'id')
  return {
    ...subscriptionAsk(subscription),
    form: (['favorite', 'name', 'position'] as const).map((name) => [name, String(subscription[name])]),
  }
}

function hasSaml({ installation }: Item): boolean {
  return (installation as { configuration?: { saml?: unknown } } | undefined)?.configuration?.saml === true
}

function maySee({ permissions }: Item): boolean {
  return (permissions as { can_view_password?: unknown } | undefined)?.can_view_password === true
}

/** A form that changes name and e-mail of a user; only the name where no domain is known. */
export async function userChange(site: Site): Promise<{ readonly name: string; readonly email?: string }> {
  const name = newName()
  try {
    return { name, email: `${site.newId()}@${await emailDomain(site)}` }
  } catch (error) {
    if (error instanceof Unchecked) return { name }
    throw error
  }
}
