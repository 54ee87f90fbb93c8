import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { FIXTURE } from './fixture.ts'
import { readService } from './read-service.ts'
import { createDatabase } from './databases.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { directorySection } from './sync-config.ts'
import type { BindUser } from './slapd.ts'
import type { Truth } from './truth.ts'

/** A service, and a folder from which `sync` runs against it. */
export interface OddSync extends AsyncDisposable {
  readonly service: ServiceSite
  readonly site: Site
  /** Writes another `source` section. */
  configure(source: object): Promise<void>
  /** Compares what the service has with what it must have; a difference names the first few entries. */
  expectEqual(truth: Truth): Promise<void>
}

/**
 * The `source` section is written into a configuration with `ca.pem` and `password` beside it. The store is on PostgreSQL,
 * because thousands of changes take the embedded one twice as long.
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

const UNLIMITED = { maxDeletes: 1_000_000, maxDeletesPerDay: 1_000_000, maxDeletePercent: 100 }
const NO_GUARDS = { users: UNLIMITED, groups: UNLIMITED, memberships: UNLIMITED }

/** Up to ten of them, each short: thousands of entries make no readable difference. */
function differences(seen: ReadonlyMap<string, unknown>, wanted: ReadonlyMap<string, unknown>): string[] {
  const found: string[] = []
  for (const id of new Set([...seen.keys(), ...wanted.keys()])) {
    const [is, must] = [JSON.stringify(seen.get(id)), JSON.stringify(wanted.get(id))]
    if (is !== must) found.push(`${id}: is ${is?.slice(0, 300)}, must be ${must?.slice(0, 300)}`)
    if (found.length === 10) break
  }
  return found
}

/** Everything that the server holds, as ldapsearch prints it. */
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
