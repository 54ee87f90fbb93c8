import { FIXTURE } from './fixture.ts'

/** The `directory` section of a sync that writes to the fixture's directory on this service. */
export function directorySection(service: { readonly baseUrl: string }, more: object = {}): object {
  return {
    baseUrl: service.baseUrl,
    organizationId: FIXTURE.organizationId,
    directoryId: FIXTURE.directoryId,
    token: { command: ['echo', FIXTURE.token] },
    allowedDomains: ['example.org'],
    membership: 'write',
    ...more,
  }
}

const UNLIMITED = {
  maxDeletes: 1_000_000,
  maxDeletesPerDay: 1_000_000,
  maxDeletePercent: 100,
  maxUpdatePercent: null,
}

/** A `guards` section that holds nothing, so that only the care of a read keeps entries from being deleted. */
export const NO_GUARDS = {
  users: UNLIMITED,
  groups: UNLIMITED,
  memberships: UNLIMITED,
  maxSourceShrinkPercent: 100,
}

/** A placeholder that `Site.configure` replaces with the URL of the site's own database. */
export const OWN_DATABASE = 'postgres://the-site'

/** A configuration with store and queue in the site's PostgreSQL database, and without a TCP listener. */
export function databaseConfig(syncs: readonly object[], more: object = {}): object {
  return { dataDir: './data', store: OWN_DATABASE, queue: 'store', admin: { listen: false }, syncs, ...more }
}

/** A configuration with an embedded store and queue, and without a TCP listener. */
export function embeddedConfig(syncs: readonly object[], more: object = {}): object {
  return { dataDir: './data', store: 'embedded', queue: 'store', admin: { listen: false }, syncs, ...more }
}
