import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { FIXTURE } from './fixture.ts'
import { readService } from './read-service.ts'
import { createDatabase } from './databases.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { directorySection, NO_GUARDS } from './sync-config.ts'
import type { BindUser } from './slapd.ts'
import type { Truth } from './truth.ts'

/** A service, and a site with a sync that writes to it. */
export interface OddSync extends AsyncDisposable {
  readonly service: ServiceSite
  readonly site: Site
  /** Replaces the `source` section. */
  configure(source: object): Promise<void>
  /** Expects the directory to equal `truth`; a failure shows up to ten differing entries. */
  expectEqual(truth: Truth): Promise<void>
}

/**
 * Writes a configuration with this `source` section, and the files `ca.pem` and `password` beside it. The store is on
 * PostgreSQL, because the embedded store needs twice the time for thousands of changes.
 */
export async function openOddSync(source: object, ca: string, password: string): Promise<OddSync> {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startServiceSite())
  const store = await createDatabase()
  const site = stack.use(await openSite())
  await site.write('ca.pem', ca)
  await site.write('password', password)
  const directory = directorySection(service)
  const configure = (section: object) =>
    site.configure({
      dataDir: './data',
      store,
      queue: 'store',
      admin: { listen: false },
      syncs: [{ name: 'odd', source: section, directory, guards: NO_GUARDS }],
    })
  await configure(source)
  const owned = stack.move()
  return {
    service,
    site,
    configure,
    async expectEqual(truth) {
      const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
      expect(seen.duplicates).toEqual([])
      expect(differences(seen.users, truth.users)).toEqual([])
      expect(differences(seen.groups, truth.groups)).toEqual([])
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Up to ten differences, each shortened, because a diff of thousands of entries is unreadable. */
function differences(seen: ReadonlyMap<string, unknown>, wanted: ReadonlyMap<string, unknown>): string[] {
  const found: string[] = []
  for (const id of new Set([...seen.keys(), ...wanted.keys()])) {
    const [is, must] = [JSON.stringify(seen.get(id)), JSON.stringify(wanted.get(id))]
    if (is !== must) found.push(`${id}: is ${is?.slice(0, 300)}, must be ${must?.slice(0, 300)}`)
    if (found.length === 10) break
  }
  return found
}

/** All entries of the server, as ldapsearch prints them. */
export async function dumpLdif(
  { url, base }: { readonly url: string; readonly base: string },
  { dn, password }: BindUser,
  ...attributes: readonly string[]
): Promise<string> {
  const login = ['-x', '-H', url, '-D', dn, '-w', password]
  const form = ['-LLL', '-o', 'ldif-wrap=no', '-E', 'pr=500/noprompt']
  const search = ['-b', base, '(objectClass=*)', '*', ...attributes]
  const options = { maxBuffer: 2 ** 28 }
  const { stdout } = await promisify(execFile)('ldapsearch', [...login, ...form, ...search], options)
  return stdout
}
