import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeCertificates } from './certificates.ts'
import { program } from './packages.ts'
import { startServer } from './server-process.ts'
import { accepts, modifyOnline, type VendorServer } from './vendor-server.ts'

const run = promisify(execFile)

export const SAMBA_BASE = 'DC=example,DC=test'
const PASSWORD = 'Correct-Horse-8-Battery'
const LOADER = fileURLToPath(new URL('./samba-load.py', import.meta.url))
const DENIER = fileURLToPath(new URL('./samba-deny.py', import.meta.url))
const READER = 'reader'

const ADMIN = { dn: 'Administrator@EXAMPLE.TEST', password: PASSWORD }

const LOGIN = ['-U', 'Administrator', `--password=${PASSWORD}`, '--use-kerberos=off']

export interface Samba extends VendorServer {
  /** Starts a second controller of the domain, with what this one has now, on an address of its own. */
  join(): Promise<Samba>
  /** Takes over what the other controller has now. */
  replicateFrom(other: VendorServer): Promise<void>
  /**
   * Denies the reader something on an entry.
   *
   * @param ace in SDDL, with `ACCOUNT` for the reader: `(D;;LC;;;ACCOUNT)` hides what is directly below the entry
   * @returns takes the ACE out again
   */
  deny(dn: string, ace: string): Promise<() => Promise<void>>
}

/**
 * Starts Debian's Samba as an Active Directory domain controller with only LDAP and what replication needs, in a new
 * folder and on a new loopback address. It needs root for the ports 389, 636, 3268 and 3269. The LDIF records may
 * contain entries and modifications. Unlike Windows, Samba has no limit of 1,500 values of `member` or 1,000 entries
 * per page.
 */
export function startSamba(records: string): Promise<Samba> {
  return startController('dc1', async (directory, config) => {
    await provision(directory)
    await load(directory, config, records)
  })
}

function joinDomain(first: string): Promise<Samba> {
  return startController('dc2', async (directory) => {
    const what = [`--server=${first}`, '--dns-backend=NONE', '--no-dns-updates', `--targetdir=${directory}`]
    const domain = ['--realm=EXAMPLE.TEST', '--workgroup=EXAMPLE', '--option=netbios name=DC2']
    await run(program('samba-tool'), ['domain', 'join', 'example.test', 'DC', ...what, ...domain, ...LOGIN])
  })
}

/** Starts the controller with this name on a new loopback address, once `fill` has made its database. */
async function startController(
  name: string,
  fill: (directory: string, config: string) => Promise<void>,
): Promise<Samba> {
  const directory = await mkdtemp(join(tmpdir(), 'dirsyncd-samba-'))
  try {
    const host = `127.${randomInt(16, 240)}.${randomInt(1, 250)}.${randomInt(1, 250)}`
    const certificates = await makeCertificates(directory, host)
    const config = join(directory, 'run.conf')
    await writeFile(config, configOf(directory, host, name))
    await fill(directory, config)
    const server = await startServer({
      command: program('samba'),
      args: ['--foreground', '--interactive', '--no-process-group', '--model=single', '-s', config],
      ready: () => accepts(host, 636),
      stopSignal: 'KILL',
      dir: directory,
    })
    const url = `ldap://${host}`
    return {
      host,
      port: 389,
      url,
      namedUrl: url,
      ldapsUrl: `ldaps://${host}`,
      ca: await readFile(certificates.caFile, 'utf8'),
      base: SAMBA_BASE,
      admin: ADMIN,
      reader: { dn: `${READER}@EXAMPLE.TEST`, password: PASSWORD },
      modify: (changes) => modifyOnline(directory, url, ADMIN, changes),
      join: () => joinDomain(host),
      async replicateFrom(other) {
        const what = [host, other.host, SAMBA_BASE, '--local', `--configfile=${config}`]
        await run(program('samba-tool'), ['drs', 'replicate', ...what, ...LOGIN])
      },
      async deny(dn, ace) {
        const change = (action: string) =>
          python(DENIER, config, databaseIn(directory), READER, dn, ace, action)
        await change('add')
        return () => change('remove')
      },
      async [Symbol.asyncDispose]() {
        await server.stop()
        await rm(directory, { recursive: true, force: true, maxRetries: 5 })
      },
    }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

const databaseIn = (directory: string) => join(directory, 'private', 'sam.ldb')

/** Debian's Python has the Samba modules; another Python in the PATH does not. */
async function python(...args: readonly string[]): Promise<void> {
  await run('/usr/bin/python3', args)
}

async function provision(directory: string): Promise<void> {
  const domain = ['--realm=EXAMPLE.TEST', '--domain=EXAMPLE', '--host-name=dc1', '--host-ip=127.0.0.1']
  const what = [
    '--server-role=dc',
    '--dns-backend=NONE',
    `--targetdir=${directory}`,
    `--adminpass=${PASSWORD}`,
  ]
  await run(program('samba-tool'), ['domain', 'provision', ...domain, ...what])
}

/** The server accepts passwords without TLS, so that the tests see what the daemon does. */
function configOf(directory: string, host: string, name: string): string {
  const file = (path: string) => join(directory, path)
  return [
    '[global]',
    'server role = active directory domain controller',
    'server services = ldap rpc cldap drepl',
    'realm = EXAMPLE.TEST',
    'workgroup = EXAMPLE',
    `netbios name = ${name.toUpperCase()}`,
    'bind interfaces only = yes',
    `interfaces = ${host}/8`,
    'ldap server require strong auth = no',
    `tls cafile = ${file('ca.pem')}`,
    `tls certfile = ${file('server.pem')}`,
    `tls keyfile = ${file('server.key')}`,
    'logging = file',
    `log file = ${file('log')}`,
    `private dir = ${file('private')}`,
    `state directory = ${file('state')}`,
    `cache directory = ${file('cache')}`,
    `lock directory = ${directory}`,
    `pid directory = ${directory}`,
    `ncalrpc dir = ${file('ncalrpc')}`,
    '',
  ].join('\n')
}

async function load(directory: string, config: string, records: string): Promise<void> {
  const ldif = join(directory, 'data.ldif')
  await writeFile(ldif, records)
  await python(LOADER, config, databaseIn(directory), ldif, READER, PASSWORD)
}
