import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { makeCertificates } from './certificates.ts'
import type { BindUser } from './slapd.ts'
import { program } from './packages.ts'
import { exportLdif, importLdif } from './ds389-offline.ts'
import { freePort, type ServerProcess, startServer } from './server-process.ts'
import { unprivileged, type User } from './unprivileged.ts'
import { accepts, modifyOnline, type VendorServer } from './vendor-server.ts'

const run = promisify(execFile)

export const DS389_BASE = 'dc=example,dc=org'
const PASSWORD = 'correct horse battery staple'
const DATA = '/usr/share/dirsrv/data'

const DIRECTORY_MANAGER = { dn: 'cn=Directory Manager', password: PASSWORD }

export interface Ds389 extends VendorServer {
  /** A user without raised limits: a paged search fails at the default look-through limit with result 11. */
  readonly limited: BindUser
  /** Stops the server, exports everything, and starts it. Resolves with the LDIF. */
  backUp(): Promise<string>
  /** Stops the server, replaces everything by this LDIF, and starts it. */
  restore(backup: string): Promise<void>
}

/**
 * Starts Debian's 389 Directory Server without systemd in a new folder and loads these LDIF records below
 * `dc=example,dc=org`. `ou=people` and `ou=groups` exist already.
 */
export async function startDs389(records: string): Promise<Ds389> {
  const directory = await mkdtemp(join(tmpdir(), 'dirsyncd-389-'))
  try {
    const [port, tlsPort] = [await freePort(), await freePort()]
    const user = unprivileged('dirsrv', 'nobody')
    const certificates = await makeInstance(directory, port, tlsPort, user)
    if (user.uid !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, directory])
    await importLdif(directory, `${tree()}\n\n${records}`, user)
    const start = () => startProcess(directory, port, user)
    let server = await start()
    const whileStopped = async <T>(work: () => Promise<T>): Promise<T> => {
      await server.stop()
      const result = await work()
      server = await start()
      return result
    }
    const url = `ldap://127.0.0.1:${port}`
    return {
      host: '127.0.0.1',
      port,
      url,
      namedUrl: `ldap://localhost:${port}`,
      ldapsUrl: `ldaps://localhost:${tlsPort}`,
      ca: await readFile(certificates.caFile, 'utf8'),
      base: DS389_BASE,
      admin: DIRECTORY_MANAGER,
      reader: reader('reader'),
      limited: reader('limited'),
      modify: (changes) => modifyOnline(directory, url, DIRECTORY_MANAGER, changes),
      backUp: () => whileStopped(() => exportLdif(directory, user)),
      restore: (backup) => whileStopped(() => importLdif(directory, backup, user)),
      async [Symbol.asyncDispose]() {
        await server.stop()
        await rm(directory, { recursive: true, force: true, maxRetries: 5 })
        await rm(join('/dev/shm', `sem.${basename(directory)}.stats`), { force: true })
      },
    }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

function startProcess(directory: string, port: number, user: User): Promise<ServerProcess> {
  return startServer({
    command: program('ns-slapd'),
    args: ['-d', '0', '-D', directory],
    ready: () => accepts('127.0.0.1', port),
    // A clean shutdown takes seconds, and each commit is durable without it.
    stopSignal: 'KILL',
    dir: directory,
    ...user,
  })
}

const FOLDERS = ['schema', 'lock', 'tmp', 'ldif', 'bak', 'run', 'log', 'db']

/**
 * Does the work of `dscreate`, which needs systemd and the system's folders. The folder name must be unique on this
 * machine, because the server names a semaphore after it and two users cannot share a semaphore.
 */
async function makeInstance(directory: string, port: number, tlsPort: number, user: User) {
  const folder = (name: string) => join(directory, name)
  for (const name of FOLDERS) await mkdir(folder(name), { recursive: true })
  await cp('/etc/dirsrv/schema', folder('schema'), { recursive: true })
  for (const name of ['slapd-collations.conf', 'certmap.conf']) {
    await copyFile(`/etc/dirsrv/config/${name}`, folder(name))
  }
  const values: Readonly<Record<string, string>> = {
    schema_dir: folder('schema'),
    lock_dir: folder('lock'),
    tmp_dir: folder('tmp'),
    cert_dir: directory,
    ldif_dir: folder('ldif'),
    bak_dir: folder('bak'),
    run_dir: folder('run'),
    inst_dir: directory,
    log_dir: folder('log'),
    config_dir: directory,
    db_dir: folder('db'),
    db_home_dir: folder('db'),
    db_lib: 'bdb',
    fqdn: 'localhost',
    ds_port: String(port),
    ds_user: user.name,
    rootdn: DIRECTORY_MANAGER.dn,
    ds_passwd: saltedHash(DIRECTORY_MANAGER.password),
    ldapi: folder('ldapi'),
    ldapi_enabled: 'off',
    ldapi_autobind: 'off',
    ds_suffix: DS389_BASE,
    ds_bename: 'userRoot',
    instance_name: 'test',
  }
  const fill = (text: string) =>
    text.replace(/%([a-z_]+)%/g, (_, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`no value for %${name}% in the template of 389-ds`)
      return value
    })
  const templates = await Promise.all(
    ['template-dse.ldif', 'template-suffix-db.ldif'].map((name) => readFile(join(DATA, name), 'utf8')),
  )
  const dse = templates.map((text) => fill(text.replace(/^#.*\n/gm, '')).trim()).join('\n\n')
  await writeFile(folder('dse.ldif'), `${withSettings(dse, tlsPort)}\n`)
  const certificates = await makeCertificates(directory, 'localhost')
  await makeCertificateStore(directory, certificates)
  return certificates
}

/**
 * Turns TLS and the plug-in of change numbers on and the access log off, and corrects an RDN that the suffix template
 * misspells.
 */
function withSettings(dse: string, tlsPort: number): string {
  const settings = [
    'nsslapd-security: on',
    `nsslapd-secureport: ${tlsPort}`,
    'nsslapd-accesslog-logging-enabled: off',
  ]
  return dse
    .replace('cn: encrypted attributes keys', 'cn: encrypted attribute keys')
    .replace(/(^dn: cn=USN,cn=plugins,cn=config\n(?:.+\n)*?nsslapd-pluginEnabled: )off/im, '$1on')
    .replace(/^cn: config\n/m, `cn: config\n${settings.join('\n')}\n`)
}

/** 389-ds reads its keys from an NSS database. */
async function makeCertificateStore(
  directory: string,
  { caFile, certFile, keyFile }: { caFile: string; certFile: string; keyFile: string },
): Promise<void> {
  const bundle = join(directory, 'server.p12')
  const from = ['-in', certFile, '-inkey', keyFile]
  const to = ['-out', bundle, '-name', 'Server-Cert', '-passout', 'pass:bundle']
  await run('openssl', ['pkcs12', '-export', ...from, ...to])
  await run('certutil', ['-N', '-d', directory, '--empty-password'])
  await run('certutil', ['-A', '-d', directory, '-n', 'Test CA', '-t', 'CT,,', '-i', caFile])
  await run('pk12util', ['-i', bundle, '-d', directory, '-W', 'bundle', '-K', ''])
}

const reader = (name: string) => ({ dn: `cn=${name},ou=services,${DS389_BASE}`, password: PASSWORD })

/** The suffix with its access rule, the organizational units, and the service accounts. */
function tree(): string {
  const everybody = 'allow (read, search, compare) userdn = "ldap:///all"'
  const aci = `aci: (targetattr != "userPassword")(version 3.0; acl "read"; ${everybody};)`
  const suffix = `dn: ${DS389_BASE}\nobjectClass: domain\ndc: example\n${aci}`
  const units = ['people', 'groups', 'services'].map(
    (name) => `dn: ou=${name},${DS389_BASE}\nobjectClass: organizationalUnit\nou: ${name}`,
  )
  const unlimited = UNLIMITED.map((name) => `${name}: -1`)
  return [suffix, ...units, service('reader', unlimited), service('limited', [])].join('\n\n')
}

const UNLIMITED = [
  'nsSizeLimit',
  'nsLookThroughLimit',
  'nsIDListScanLimit',
  'nsPagedSizeLimit',
  'nsPagedLookThroughLimit',
  'nsPagedIDListScanLimit',
]

function service(name: string, limits: readonly string[]): string {
  const { dn, password } = reader(name)
  const classes = ['applicationProcess', 'simpleSecurityObject'].map((each) => `objectClass: ${each}`)
  return [`dn: ${dn}`, ...classes, `cn: ${name}`, `userPassword: ${password}`, ...limits].join('\n')
}

function saltedHash(password: string): string {
  const salt = Buffer.from('saltsalt')
  const hash = createHash('sha1').update(password).update(salt).digest()
  return `{SSHA}${Buffer.concat([hash, salt]).toString('base64')}`
}
