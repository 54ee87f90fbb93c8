import { FIXTURE } from './fixture.ts'

/** The `directory` section of a sync that writes to the service's directory of the fixture. */
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

/** What `Site.configure` replaces with a database of its own. */
export const OWN_DATABASE = 'postgres://the-site'

/** A configuration with store and queue in one database of the site, and no TCP listener. */
export function databaseConfig(syncs: readonly object[], more: object = {}): object {
  return { dataDir: './data', store: OWN_DATABASE, queue: 'store', admin: { listen: false }, syncs, ...more }
}

/** A configuration with embedded stores and no TCP listener. */
export function embeddedConfig(syncs: readonly object[], more: object = {}): object {
  return { dataDir: './data', store: 'embedded', queue: 'store', admin: { listen: false }, syncs, ...more }
}
