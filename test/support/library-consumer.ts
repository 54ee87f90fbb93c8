import {
  AccessManagementClient,
  type Event,
  type ExternalUser,
  isApiError,
  type Operation,
  type Page,
  type Written,
} from '../../src/api/client/index.ts'

/**
 * A user's program that calls every method and every iterator of the package and prints the results as JSON. The test
 * of the library copies it into another project, where the client comes from the package `@dirsyncd/client`.
 */
await using client = new AccessManagementClient({
  baseUrl: process.env['BASE_URL'] ?? '',
  organizationId: 1,
  deviceId: 'library-test',
  token: async () => process.env['ACCESS_TOKEN'] ?? '',
})

const DIRECTORY = { directory_id: 7 }
const USER = { ...DIRECTORY, external_id: 'user 0' }
const GROUP = { ...DIRECTORY, external_id: 'group 0' }
const SUBSCRIPTION = { subscription_id: 101 }

/** One call for each endpoint; the type check fails when an endpoint is missing. */
const calls: { readonly [O in Operation]: () => Promise<unknown> } = {
  listDirectories: () => client.listDirectories(),
  getDirectory: () => client.getDirectory(DIRECTORY),
  async createUsers() {
    for (const from of [0, 100]) await client.createUsers(DIRECTORY, usersFrom(from, 100))
    const written: Written<ExternalUser[]> = await client.createUsers(DIRECTORY, usersFrom(200, 5))
    return written.value?.map((user) => user.external_id)
  },
  async listUsers() {
    const page: Page<ExternalUser> = await client.listUsers(DIRECTORY, { page: 3, perPage: 100 })
    return { total: page.total, perPage: page.perPage, items: page.items.length }
  },
  getUser: () => client.getUser(USER),
  updateUser: async () => (await client.updateUser(USER, { email: 'zero@example.org' })).value,
  async createGroups() {
    const groups = [GROUP.external_id, 'group 1'].map((external_id) => ({ external_id, name: external_id }))
    return (await client.createGroups(DIRECTORY, groups)).value
  },
  listGroups: async () => (await client.listGroups(DIRECTORY, { page: 2, perPage: 1 })).items,
  updateGroup: async () =>
    (await client.updateGroup(GROUP, { name: 'Zero', external_member_ids: ['user 1'] })).value,
  getGroup: () => client.getGroup(GROUP),
  listSubscriptions: async () => (await client.listSubscriptions({ all: true }, { perPage: 1 })).items,
  getSubscription: () => client.getSubscription(SUBSCRIPTION),
  updateSubscription: async () =>
    (await client.updateSubscription(SUBSCRIPTION, { favorite: false, name: 'Maps', position: 9 })).value,
  createAssertion: async () => (await client.createAssertion(SUBSCRIPTION, { RelayState: 'a b&c' })).value,
  readCredentials: async () => (await client.readCredentials(SUBSCRIPTION)).value,
  resetPassword: async () => (await client.resetPassword(SUBSCRIPTION)).value,
  async listEvents() {
    const filters = { type: 'update_policy', time_from: '2026-01-01', ip_from: '2001:db8::', contact_id: 12 }
    const { items, total }: Page<Event> = await client.listEvents({ filters }, { perPage: 5 })
    return { total, descriptions: items.map((event) => event.description.en) }
  },
  listOrganizationGroups: async () =>
    (await client.listOrganizationGroups({ q: 'größere' })).items.map(({ name }) => name),
  getOrganizationGroup: () => client.getOrganizationGroup({ group_id: 51 }),
  deleteGroup: async () => (await client.deleteGroup(GROUP)).status,
  deleteUser: async () => (await client.deleteUser(USER)).status,
}

const iterations: { readonly [O in keyof AccessManagementClient['each']]: () => Promise<unknown[]> } = {
  listDirectories: () => Array.fromAsync(client.each.listDirectories(), ({ id }) => id),
  listUsers: () => Array.fromAsync(client.each.listUsers(DIRECTORY, { perPage: 50 }), ({ id }) => id),
  listGroups: () => Array.fromAsync(client.each.listGroups(DIRECTORY), (group) => group.external_id),
  listSubscriptions: () => Array.fromAsync(client.each.listSubscriptions({}, { perPage: 2 }), ({ id }) => id),
  listEvents: () => Array.fromAsync(client.each.listEvents({}, { perPage: 100 }), ({ id }) => id),
  listOrganizationGroups: () => Array.fromAsync(client.each.listOrganizationGroups(), ({ id }) => id),
}

function usersFrom(from: number, count: number): { external_id: string; name: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    external_id: `user ${from + index}`,
    name: `User ${from + index}`,
  }))
}

async function nameOfFailure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'none'
  } catch (error) {
    return isApiError(error) ? `${error.name} ${error.kind} ${error.operation}` : 'another error'
  }
}

async function resultsOf(work: Readonly<Record<string, () => Promise<unknown>>>): Promise<object> {
  const results: Record<string, unknown> = {}
  for (const [name, run] of Object.entries(work)) results[name] = await run()
  return results
}

console.log(
  JSON.stringify({
    calls: await resultsOf(calls),
    each: await resultsOf(iterations),
    failure: await nameOfFailure(client.getUser({ ...DIRECTORY, external_id: 'nobody' })),
  }),
)
