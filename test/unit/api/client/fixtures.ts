import { expect } from 'vitest'
import { AccessManagementClient } from '../../../../src/api/client/client.ts'
import type { ClientOptions } from '../../../../src/api/client/options.ts'

export const SECRET = 'secret-token-4711'

/** A client with short pauses. */
export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): AccessManagementClient {
  return new AccessManagementClient({
    baseUrl,
    organizationId: 1,
    deviceId: 'test-device',
    token: async () => SECRET,
    ...options,
    retries: { minDelayMs: 2, maxDelayMs: 20, defaultRetryAfterMs: 2, ...options.retries },
  })
}

export function user(id: number, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    external_id: `u${id}`,
    name: `User ${id}`,
    first_name: 'User',
    last_name: `${id}`,
    email: `u${id}@example.org`,
    ...over,
  }
}

export function group(id: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return { external_id: id, name: `Group ${id}`, external_member_ids: [], ...over }
}

export const DIRECTORY = { id: 7, name: 'Corp', doppler: false, target_type: 'ldap' }

/** What a promise was rejected with; fails when it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  expect.unreachable('expected a rejection')
}
