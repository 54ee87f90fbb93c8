import {
  type AccessManagementClient,
  type ClientOptions,
  type EventFilters,
  isApiError,
} from '../../src/api/client/index.ts'

/** Code that the type check must reject. It is never executed. */
export async function mistakes(client: AccessManagementClient): Promise<void> {
  // @ts-expect-error a path parameter is missing
  await client.getDirectory({})
  // @ts-expect-error the parameters are missing
  await client.getDirectory()
  // @ts-expect-error a misspelled path parameter
  await client.getUser({ directory_id: 7, externalId: 'a' })
  // @ts-expect-error the id of a directory is a number
  await client.getDirectory({ directory_id: 'x' })
  // @ts-expect-error the id of a directory is a number, as in answers
  await client.getDirectory({ directory_id: '7' })
  // @ts-expect-error the id of a subscription is a number
  await client.getSubscription({ subscription_id: 'x' })
  // @ts-expect-error the id of a group of the organization is a number
  await client.getOrganizationGroup({ group_id: 'x' })
  // @ts-expect-error the id of a contact is a number
  await client.listEvents({ filters: { contact_id: 'x' } })
  // @ts-expect-error an external id is a text
  await client.getUser({ directory_id: 7, external_id: 7 })
  // @ts-expect-error the client already has the organization
  await client.getDirectory({ directory_id: 7, organization_id: 2 })
  // @ts-expect-error the page belongs in the options
  await client.listDirectories({ page: 2 })
  // @ts-expect-error a single resource has no pages
  await client.getDirectory({ directory_id: 7 }, { page: 2 })
  // @ts-expect-error an unknown filter
  await client.listEvents({ filters: { kind: 'update_policy' } })
  // @ts-expect-error filters are an object of their own
  await client.listEvents({ type: 'update_policy' })
  // @ts-expect-error a boolean, not a text
  await client.listSubscriptions({ all: 'yes' })
  // @ts-expect-error a query parameter of another endpoint
  await client.listOrganizationGroups({ all: true })
  // @ts-expect-error the list of groups needs names
  await client.createGroups({ directory_id: 7 }, [{ external_id: 'g' }])
  // @ts-expect-error a list, not one entry
  await client.createUsers({ directory_id: 7 }, { external_id: 'a' })
  // @ts-expect-error the form is missing
  await client.updateUser({ directory_id: 7, external_id: 'a' })
  // @ts-expect-error an unknown field
  await client.updateUser({ directory_id: 7, external_id: 'a' }, { mail: 'a@example.org' })
  // @ts-expect-error a number, not a text
  await client.updateSubscription({ subscription_id: 1 }, { position: 'first' })
  // @ts-expect-error a boolean, not a text
  await client.updateSubscription({ subscription_id: 1 }, { favorite: 'true' })
  // @ts-expect-error the request has no form, so the second argument is the options
  await client.readCredentials({ subscription_id: 1 }, { RelayState: 'x' })
  // @ts-expect-error a single resource has no iterator
  client.each.getUser({ directory_id: 7, external_id: 'a' })
  // @ts-expect-error an iterator has no page
  client.each.listUsers({ directory_id: 7 }, { page: 2 })
  // @ts-expect-error an iterator needs its parameters
  client.each.listUsers()
}

export async function answers(client: AccessManagementClient): Promise<void> {
  const { value } = await client.createUsers({ directory_id: 7 }, [{ external_id: 'a' }])
  // @ts-expect-error the value may be undefined
  console.log(value[0])
  const { value: nothing } = await client.deleteUser({ directory_id: 7, external_id: 'a' })
  const none: undefined = nothing
  const list = await client.listSubscriptions()
  // @ts-expect-error the API description has integer ids
  const id: string | undefined = list.items[0]?.id
  const one = await client.getSubscription({ subscription_id: 1 })
  const email: string = one.subscriber.email
  await client.createAssertion({ subscription_id: 1 })
  await client.createAssertion({ subscription_id: 1 }, {}, { signal: AbortSignal.timeout(1) })
  const found = await client.createUsers({ directory_id: 7 }, [{}], { confirm: async () => 'there' })
  if (found.found) found.value satisfies string
  console.log(none, id, email)
}

export function failures(error: unknown): string {
  if (isApiError(error, 'not-found', 'conflict')) return error.kind satisfies 'not-found' | 'conflict'
  // @ts-expect-error no such kind
  return isApiError(error, 'missing') ? '' : 'other'
}

// @ts-expect-error the id of an organization is a number
export const textId: ClientOptions = { baseUrl: 'https://x', organizationId: 'x', deviceId: 'd', token: 't' }

export const filters: EventFilters = { group_id: 51, contact_id: 12 }

// @ts-expect-error the token is required
export const withoutToken: ClientOptions = { baseUrl: 'https://x', organizationId: 1, deviceId: 'd' }
