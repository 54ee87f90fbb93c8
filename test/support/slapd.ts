import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeCertificates } from './certificates.ts'
import { groupLdif, ldif, person, personGroup, personLdif } from './people.ts'
import { PATIENCE } from './patience.ts'
import { freePort } from './server-process.ts'

const run = promisify(execFile)

export const BASE = 'dc=example,dc=org'
const PASSWORD = 'correct horse battery staple'

export interface SlapdOptions {
  /** How many people to load, made by `person()`; 0 by default. */
  readonly people?: number
  /** How many groups to load, made by `personGroup()`; 0 by default. */
  readonly groups?: number
  /** More LDIF records, loaded after the people and groups. */
  readonly ldifs?: readonly string[]
  /** Offers ldaps:// and StartTLS with a certificate of a new CA; true by default. */
  readonly tls?: boolean
  /** Global lines of the configuration, such as `idletimeout 1`. */
  readonly global?: readonly string[]
  /** `access to …` lines before the default ones. */
  readonly acl?: readonly string[]
  /** Lines of the database, such as `syncrepl …`. */
  readonly database?: readonly string[]
  /** Loads nothing at all, not even the suffix, because the server is filled by replication. */
  readonly empty?: boolean
  /** Overlays of the database, such as `memberof`. They react to modifications, not to the initial load. */
  readonly overlays?: readonly string[]
}

export interface BindUser {
  readonly dn: string
  readonly password: string
}

/** Bind users with the rights and limits that administrators configure in practice. */
interface Readers {
  /** Sees everything, without limits. */
  readonly reader: BindUser
  /** Gets at most 500 entries without paging, and all entries with paging. */
  readonly sizeLimited: BindUser
  /** Gets at most 500 entries, with paging too. */
  readonly totallyLimited: BindUser
  /** May not use paging. */
  readonly unpaged: BindUser
  /** Does not see `mail`. */
  readonly noMail: BindUser
  /** Does not see ou=external, and the server reports no error. */
  readonly noExternal: BindUser
}

export interface Slapd extends AsyncDisposable {
  readonly base: string
  /** `ldap://127.0.0.1:…` */
  readonly url: string
  /** `ldap://localhost:…`, for StartTLS: the certificate is for localhost. */
  readonly namedUrl: string
  /** `ldaps://localhost:…`; the certificate is not valid for 127.0.0.1. */
  readonly ldapsUrl: string
  readonly port: number
  /** PEM text of the CA. Empty without TLS. */
  readonly ca: string
  /** The folder of the server's files, which include the key of the CA. */
  readonly directory: string
  readonly admin: BindUser
  readonly readers: Readers
  /** Runs ldapmodify as the administrator; LDIF with `changetype`. */
  modify(changes: string): Promise<void>
  /** Stops the process with SIGSTOP. */
  freeze(): void
  /** Continues the process with SIGCONT. */
  resume(): void
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>
  /** SIGTERM, as an administrator stops it. */
  stop(): Promise<void>
  /** Starts the server again on its port after `kill` or `stop`. */
  start(): Promise<void>
  /** What slapcat prints: a backup of everything, with the operational attributes. */
  dump(): Promise<string>
  /** Replaces all data by a backup, as an administrator does: stops the server, loads the LDIF, starts the server. */
  restore(ldif: string): Promise<void>
  close(): Promise<void>
}

/**
 * Starts Debian's slapd on free ports of 127.0.0.1 with a new data directory. The server ends with this process, even
 * when this process is killed.
 */
export async function startSlapd(options: SlapdOptions = {}): Promise<Slapd> {
  const directory = await mkdtemp(join(tmpdir(), 'dirsyncd-slapd-'))
  try {
    await mkdir(join(directory, 'data'))
    const certificates = options.tls === false ? undefined : await makeCertificates(directory, 'localhost')
    const config = join(directory, 'slapd.conf')
    await writeFile(config, configOf(directory, options, certificates !== undefined))
    if (options.empty !== true) await load(directory, config, options)
    const ca = certificates === undefined ? '' : await readFile(certificates.caFile, 'utf8')
    return await launch(directory, config, ca)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** Renames or removes an entry in the lists of members too. */
const REFINT = ['refint_attributes member']

const bindUser = (name: string): BindUser => ({ dn: `cn=${name},ou=services,${BASE}`, password: PASSWORD })

const ADMIN: BindUser = { dn: `cn=admin,${BASE}`, password: PASSWORD }

const READERS: Readers = {
  reader: bindUser('reader'),
  sizeLimited: bindUser('size-limited'),
  totallyLimited: bindUser('totally-limited'),
  unpaged: bindUser('unpaged'),
  noMail: bindUser('no-mail'),
  noExternal: bindUser('no-external'),
}

function configOf(directory: string, options: SlapdOptions, tls: boolean): string {
  const { acl = [], global = [], database = [], overlays = [] } = options
  const file = (name: string) => join(directory, name)
  const schemas = ['core', 'cosine', 'nis', 'inetorgperson'].map(
    (name) => `include /etc/ldap/schema/${name}.schema`,
  )
  const tlsLines = [
    `TLSCACertificateFile ${file('ca.pem')}`,
    `TLSCertificateFile ${file('server.pem')}`,
    `TLSCertificateKeyFile ${file('server.key')}`,
  ]
  return [
    ...schemas,
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    ...overlays.map((name) => `moduleload ${name}`),
    `pidfile ${file('slapd.pid')}`,
    ...(tls ? tlsLines : []),
    ...global,
    'sizelimit 500',
    'threads 4',
    'database mdb',
    'maxsize 4294967296',
    `suffix "${BASE}"`,
    `rootdn "${ADMIN.dn}"`,
    `rootpw "${ADMIN.password}"`,
    `directory ${file('data')}`,
    'dbnosync',
    ...database,
    'index objectClass,entryUUID,uid,mail,member eq',
    `limits dn.exact="${READERS.sizeLimited.dn}" size.soft=500 size.hard=500 size.pr=noEstimate size.prtotal=unlimited`,
    `limits dn.exact="${READERS.totallyLimited.dn}" size=500 size.prtotal=500`,
    `limits dn.exact="${READERS.unpaged.dn}" size=unlimited size.prtotal=disabled`,
    'limits users size=unlimited time=unlimited',
    ...acl,
    `access to dn.subtree="ou=external,ou=people,${BASE}" by dn.exact="${READERS.noExternal.dn}" none by * break`,
    `access to attrs=mail by dn.exact="${READERS.noMail.dn}" none by * break`,
    'access to attrs=userPassword by anonymous auth by * none',
    'access to * by * read',
    ...overlays.flatMap((name) => [`overlay ${name}`, ...(name === 'refint' ? REFINT : [])]),
    '',
  ].join('\n')
}

async function load(directory: string, config: string, options: SlapdOptions): Promise<void> {
  const { people = 0, groups = 0, ldifs = [] } = options
  const path = join(directory, 'data.ldif')
  const out = createWriteStream(path)
  const write = async (text: string) => {
    if (!out.write(text)) await once(out, 'drain')
  }
  await write(tree())
  for (let index = 0; index < people; index += 1) await write(personLdif(person(index, BASE)))
  for (let index = 0; index < groups; index += 1)
    await write(groupLdif(personGroup(index, BASE, people), BASE))
  for (const text of ldifs) await write(`${text.trim()}\n\n`)
  out.end()
  await once(out, 'close')
  await run('slapadd', ['-q', '-f', config, '-l', path])
}

function tree(): string {
  const services = Object.values(READERS).map(({ dn, password }: BindUser) =>
    ldif(dn, {
      objectClass: ['organizationalRole', 'simpleSecurityObject'],
      cn: [dn.slice(3, dn.indexOf(','))],
      userPassword: [password],
    }),
  )
  return [
    ldif(BASE, { objectClass: ['dcObject', 'organization'], dc: ['example'], o: ['Example'] }),
    unit('people', BASE),
    unit('external', `ou=people,${BASE}`),
    unit('groups', BASE),
    unit('services', BASE),
    ...services,
  ].join('')
}

function unit(name: string, above: string): string {
  return ldif(`ou=${name},${above}`, { objectClass: ['organizationalUnit'], ou: [name] })
}

async function launch(directory: string, config: string, ca: string): Promise<Slapd> {
  const [port, tlsPort] = [await freePort(), await freePort()]
  const urls = [`ldap://127.0.0.1:${port}/`, ...(ca === '' ? [] : [`ldaps://127.0.0.1:${tlsPort}/`])]
  let server = await spawnSlapd(config, urls, port)
  const url = `ldap://127.0.0.1:${port}`
  const start = async () => {
    server = await spawnSlapd(config, urls, port)
  }
  const end = async (signal: NodeJS.Signals) => {
    server.kill('SIGCONT')
    server.kill(signal)
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  }
  const close = async () => {
    await end('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
  return {
    base: BASE,
    url,
    namedUrl: `ldap://localhost:${port}`,
    ldapsUrl: `ldaps://localhost:${tlsPort}`,
    port,
    ca,
    directory,
    admin: ADMIN,
    readers: READERS,
    modify: (changes) => modify(directory, url, changes),
    freeze: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    start,
    dump: async () => (await run('slapcat', ['-f', config], { maxBuffer: 2 ** 28 })).stdout,
    restore: async (backup) => {
      await end('SIGTERM')
      await rm(join(directory, 'data'), { recursive: true })
      await mkdir(join(directory, 'data'))
      const path = join(directory, 'backup.ldif')
      await writeFile(path, backup)
      await run('slapadd', ['-q', '-f', config, '-l', path])
      await start()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function spawnSlapd(config: string, urls: readonly string[], port: number): Promise<ChildProcess> {
  const slapd = ['slapd', '-f', config, '-h', urls.join(' '), '-d', '0']
  // The kernel kills slapd when this process is killed, because slapd does not notice that.
  const server = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...slapd], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await untilListening(server, port)
  return server
}

async function modify(directory: string, url: string, changes: string): Promise<void> {
  const path = join(directory, `changes-${process.hrtime.bigint()}.ldif`)
  await writeFile(path, changes)
  await run('ldapmodify', ['-x', '-H', url, '-D', ADMIN.dn, '-w', ADMIN.password, '-f', path])
}

async function untilListening(server: ChildProcess, port: number): Promise<void> {
  let stderr = ''
  server.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  for (const started = Date.now(); Date.now() - started < PATIENCE.timeout; await delay(20)) {
    if (server.exitCode !== null) throw new Error(`slapd ended with ${server.exitCode}: ${stderr}`)
    if (await accepts(port)) return
  }
  server.kill('SIGKILL')
  throw new Error(`slapd does not listen: ${stderr}`)
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** The `users` and `groups` sections of an LDAP source for the people and groups below the base. */
export function peopleSections(base: string) {
  return {
    users: {
      base: `ou=people,${base}`,
      filter: '(objectClass=inetOrgPerson)',
      map: {
        external_id: 'entryUUID',
        email: 'mail',
        name: '{givenName} {sn}',
        employee_id: 'employeeNumber',
      },
    },
    groups: {
      base: `ou=groups,${base}`,
      filter: '(objectClass=groupOfNames)',
      map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
    },
  }
}
