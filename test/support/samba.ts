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

/**
 * Starts Debian's Samba as an Active Directory domain controller with only LDAP, in a new folder and on a new loopback
 * address. It needs root for the ports 389, 636, 3268 and 3269. The LDIF records may contain entries and modifications.
 * Unlike Windows, Samba has no limit of 1,500 values of `member` or 1,000 entries per page.
 */
export async function startSamba(records: string): Promise<VendorServer> {
  const directory = await mkdtemp(join(tmpdir(), 'dirsyncd-samba-'))
  try {
    const host = `127.${randomInt(16, 240)}.${randomInt(1, 250)}.${randomInt(1, 250)}`
    await provision(directory)
    const certificates = await makeCertificates(directory, host)
    const config = join(directory, 'run.conf')
    await writeFile(config, configOf(directory, host))
    await load(directory, config, records)
    const server = await startServer({
      command: program('samba'),
      args: ['--foreground', '--interactive', '--no-process-group', '--model=single', '-s', config],
      ready: () => accepts(host, 636),
      stopSignal: 'KILL',
      dir: directory,
    })
    const url = `ldap://${host}`
    const admin = { dn: 'Administrator@EXAMPLE.TEST', password: PASSWORD }
    return {
      host,
      port: 389,
      url,
      namedUrl: url,
      ldapsUrl: `ldaps://${host}`,
      ca: await readFile(certificates.caFile, 'utf8'),
      base: SAMBA_BASE,
      admin,
      reader: { dn: 'reader@EXAMPLE.TEST', password: PASSWORD },
      modify: (changes) => modifyOnline(directory, url, admin, changes),
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
function configOf(directory: string, host: string): string {
  const file = (name: string) => join(directory, name)
  return [
    '[global]',
    'server role = active directory domain controller',
    'server services = ldap',
    'realm = EXAMPLE.TEST',
    'workgroup = EXAMPLE',
    'netbios name = DC1',
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
  // Debian's Python has the Samba modules; another Python in the PATH does not.
  const database = join(directory, 'private', 'sam.ldb')
  await run('/usr/bin/python3', [LOADER, config, database, ldif, 'reader', PASSWORD])
}
