import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The Debian packages that the tests take their servers and tools from, with the programs and modules that they need
 * of each.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'redis-server': ['redis-server'],
  slapd: ['slapd', 'slapadd'],
  'ldap-utils': ['ldapmodify'],
  postgresql: ['initdb', 'postgres'],
  openssl: ['openssl'],
  curl: ['curl'],
  'apache2-bin': ['apache2'],
  'libapache2-mod-auth-mellon': ['mod_auth_mellon.so'],
}

/** Servers of other vendors, which only `npm run test:vendors` needs. */
const VENDOR_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  samba: ['samba'],
  'samba-common-bin': ['samba-tool'],
  'samba-ad-provision': ['provision.ldif'],
  'samba-dsdb-modules': ['samldb.so'],
  'samba-vfs-modules': ['acl_xattr.so'],
  '389-ds-base': ['ns-slapd'],
  'libnss3-tools': ['certutil', 'pk12util'],
}

/** Debian keeps servers' programs in directories that are on nobody's path. */
function folders(): string[] {
  const path = (process.env['PATH'] ?? '').split(delimiter)
  const more = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/lib/apache2/modules', '/usr/share/samba/setup']
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const samba = `/usr/lib/${machine}-linux-gnu/samba`
  return [...path, ...more, `${samba}/ldb`, `${samba}/vfs`, ...postgresFolders()]
}

/** The newest version first. */
function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql'
  try {
    const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(root, version, 'bin'))
  } catch {
    return []
  }
}

function find(name: string): string | undefined {
  return folders()
    .map((folder) => join(folder, name))
    .find(isUsable)
}

/** A module or a file is read, not executed. */
function isUsable(path: string): boolean {
  try {
    accessSync(path, /\.(?:so|ldif)$/.test(path) ? constants.R_OK : constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a program or module that the tests need, wherever it is installed. */
export function program(name: string): string {
  const path = find(name)
  if (path === undefined)
    throw new Error(`${name} is not installed: run npm test once, or ${installCommand(missing())}`)
  return path
}

/** The packages of which something is missing; the servers of other vendors only where they are asked for. */
export function missing(vendors = false): string[] {
  return Object.entries({ ...PACKAGES, ...(vendors && VENDOR_PACKAGES) })
    .filter(([, programs]) => programs.some((name) => find(name) === undefined))
    .map(([name]) => name)
}

/** What a person without root's rights has to run. */
export function installCommand(names: readonly string[]): string {
  return `sudo apt-get install -y --no-install-recommends ${names.join(' ')}`
}

/** Installs packages as root, without starting the servers that come with them. */
export function install(names: readonly string[]): void {
  const options = {
    stdio: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  } as const
  execFileSync('apt-get', ['update', '-qq'], options)
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options)
}
