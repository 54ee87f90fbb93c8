import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian package → the programs and modules that the tests need from it. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'redis-server': ['redis-server'],
  slapd: ['slapd', 'slapadd'],
  'ldap-utils': ['ldapmodify'],
  postgresql: ['initdb', 'postgres'],
  openssl: ['openssl'],
  curl: ['curl'],
  prometheus: ['prometheus', 'promtool'],
  systemd: ['systemd-analyze', 'systemd-notify'],
  'apache2-bin': ['apache2'],
  'libapache2-mod-auth-mellon': ['mod_auth_mellon.so'],
  chromium: ['chromium'],
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

/** What only `npm run faults` needs besides: a clock that can be stepped. */
const FAULT_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  libfaketime: ['libfaketimeMT.so.1'],
}

/** What only `npm run test:image` needs besides. */
const IMAGE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  buildah: ['buildah'],
  debootstrap: ['debootstrap'],
  'docker-compose': ['docker-compose'],
  iproute2: ['ip'],
  procps: ['ps'],
}

/** Debian installs the programs of servers in directories outside of the usual PATH. */
function folders(): string[] {
  const path = (process.env['PATH'] ?? '').split(delimiter)
  const more = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/lib/apache2/modules', '/usr/share/samba/setup']
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const samba = `/usr/lib/${machine}-linux-gnu/samba`
  return [
    ...path,
    ...more,
    `${samba}/ldb`,
    `${samba}/vfs`,
    `/usr/lib/${machine}-linux-gnu/faketime`,
    ...postgresFolders(),
  ]
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

/** Modules and data files need read permission only, programs must be executable. */
function isUsable(path: string): boolean {
  try {
    accessSync(path, /\.(?:so|so\.1|ldif)$/.test(path) ? constants.R_OK : constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of an installed program or module. Throws when it is not installed. */
export function program(name: string): string {
  const path = find(name)
  if (path !== undefined) return path
  const kinds = ['vendors', 'faults', 'image'] as const
  const more = kinds.find((kind) => Object.values(MORE_PACKAGES[kind]).flat().includes(name))
  const command = more === undefined ? 'npm test' : INSTALLING[more]
  throw new Error(`${name} is not installed: run ${command} once, or ${installCommand(missing(more))}`)
}

/** Tests that need more than `npm test`, and the commands that install it. */
const MORE_PACKAGES = { vendors: VENDOR_PACKAGES, faults: FAULT_PACKAGES, image: IMAGE_PACKAGES }
const INSTALLING = {
  vendors: 'npm run test:vendors',
  faults: 'npm run faults',
  image: 'npm run test:image',
}

/** The packages with a missing program or module, including those that these tests need besides. */
export function missing(more?: keyof typeof MORE_PACKAGES): string[] {
  return Object.entries({ ...PACKAGES, ...(more && MORE_PACKAGES[more]) })
    .filter(([, programs]) => programs.some((name) => find(name) === undefined))
    .map(([name]) => name)
}

/** The install command for a user who is not root. */
export function installCommand(names: readonly string[]): string {
  return `sudo apt-get install -y --no-install-recommends ${names.join(' ')}`
}

/** Installs packages as root; RUNLEVEL=1 keeps the installed servers from starting. */
export function install(names: readonly string[]): void {
  const options = {
    stdio: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  } as const
  execFileSync('apt-get', ['update', '-qq'], options)
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options)
}
