import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { isThisMachine } from '../base/this-machine.ts'
import type { Fault } from '../base/yaml/document.ts'
import { network } from '../base/yaml/values.ts'
import { isCron } from './schedule.ts'

/** Checks raw values, and only the options it needs, so these faults are reported together with those of single options. */
export function crossFaults(raw: unknown): Fault[] {
  const syncs = listOf(raw, 'syncs')
  return [
    ...nothingToDo(raw),
    ...passwordsWithoutServer(raw),
    ...proxyFaults(raw),
    ...duplicates(
      ['syncs'],
      syncs,
      nameIn,
      ['name'],
      (other) => `is the name of syncs[${other}] too; every sync has its own`,
    ),
    ...duplicates(
      ['syncs'],
      syncs,
      directoryKey,
      ['directory'],
      (other) =>
        `is the directory of ${nameOf(syncs, other)} too; two syncs must never write to one directory`,
    ),
    ...channelFaults(raw),
    ...syncs.flatMap((sync, index) =>
      [...scheduleFaults(sync), ...ldapFaults(sync), ...directoryFaults(sync)].map((fault) => ({
        ...fault,
        path: ['syncs', index, ...fault.path],
      })),
    ),
  ]
}

function nameOf(syncs: readonly unknown[], index: number): string {
  const name = nameIn(syncs[index])
  return name === undefined ? `syncs[${index}]` : `the sync "${name}"`
}

const withSyncs = z.object({ syncs: z.array(z.unknown()).default([]) })

function nothingToDo(raw: unknown): Fault[] {
  const { data } = withSyncs.safeParse(raw)
  if (data === undefined || data.syncs.length > 0) return []
  return [{ path: ['syncs'], message: 'is empty; name at least one sync, as config/example.yaml shows' }]
}

function passwordsWithoutServer(raw: unknown): Fault[] {
  const faults: Fault[] = []
  const check = (
    section: unknown,
    at: readonly string[],
    option: string,
    password: string,
    serverless: string,
  ) => {
    const values = z.record(z.string(), z.unknown()).safeParse(section).data
    if (values?.[password] === undefined || (values[option] ?? serverless) !== serverless) return
    faults.push({ path: [...at, password], message: `has no use while ${option} is ${serverless}` })
  }
  check(raw, [], 'store', 'storePassword', 'embedded')
  check(raw, [], 'queue', 'queuePassword', 'store')
  return faults
}

const proxies = z.object({
  admin: z.looseObject({ trustedProxies: z.array(z.unknown()).catch([]) }).default({ trustedProxies: [] }),
})

/** Every account of this machine can connect from its loopback addresses, and name any user. */
function proxyFaults(raw: unknown): Fault[] {
  const admin = proxies.safeParse(raw).data?.admin
  if (admin === undefined) return []
  const { trustedProxies, userHeader, proxySecret } = admin
  const faults: Fault[] = []
  const refuse = (message: string, ...path: Fault['path']) =>
    faults.push({ path: ['admin', ...path], message })
  if (userHeader === undefined) {
    if (trustedProxies.length > 0) refuse('has no use without admin.userHeader', 'trustedProxies')
    if (proxySecret !== undefined) refuse('has no use without admin.userHeader', 'proxySecret')
  } else if (trustedProxies.length === 0)
    refuse('is believed of nobody; name the reverse proxy in admin.trustedProxies', 'userHeader')
  for (const [index, each] of proxySecret === undefined ? trustedProxies.entries() : [])
    if (hasLoopback(each)) refuse(NEEDS_SECRET, 'trustedProxies', index)
  return faults
}

const NEEDS_SECRET =
  'has addresses of this machine, from which each of its accounts could name any user; add admin.proxySecret: { file: PATH }, ' +
  'and have the proxy send it in the header X-Dirsyncd-Proxy-Secret'

/** Accepts an address or a network. */
function hasLoopback(value: unknown): boolean {
  const { data } = network.safeParse(value)
  if (data === undefined) return false
  const [address = '', prefix] = data.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)
  return list.check('::1', 'ipv6') || list.check('127.0.0.1') || loopback.check(address, family)
}

function duplicates(
  list: readonly string[],
  all: readonly unknown[],
  keyOf: (one: unknown) => string | undefined,
  path: readonly string[],
  message: (other: number) => string,
): Fault[] {
  const first = new Map<string, number>()
  const faults: Fault[] = []
  for (const [index, one] of all.entries()) {
    const key = keyOf(one)
    if (key === undefined) continue
    const other = first.get(key)
    if (other === undefined) first.set(key, index)
    else faults.push({ path: [...list, index, ...path], message: message(other) })
  }
  return faults
}

function nameIn(listed: unknown): string | undefined {
  return z.object({ name: z.string() }).safeParse(listed).data?.name
}

const directoryIdentity = z.object({
  directory: z.object({ baseUrl: z.string(), organizationId: z.number(), directoryId: z.number() }),
})

/** Spellings of one directory have one key: case of the host, a default port, a slash at the end. */
function directoryKey(sync: unknown): string | undefined {
  const directory = directoryIdentity.safeParse(sync).data?.directory
  const url = directory === undefined ? null : URL.parse(directory.baseUrl)
  if (directory === undefined || url === null) return undefined
  const path = url.pathname.replace(/\/+$/, '')
  return JSON.stringify([url.origin, path, directory.organizationId, directory.directoryId])
}

const plainMail = z.object({
  type: z.literal('email'),
  security: z.literal('none'),
  host: z.string().refine((host) => !isThisMachine(host)),
  password: z.unknown().refine((password) => password !== undefined),
})

function channelFaults(raw: unknown): Fault[] {
  const list = ['notifications', 'channels']
  const notifications = z.object({ notifications: z.unknown() }).safeParse(raw).data?.notifications
  const channels = listOf(notifications, 'channels')
  const twice = (other: number) => `is the name of ${list.join('.')}[${other}] too; every channel has its own`
  const inTheClear = channels.flatMap((channel, index): Fault[] => {
    const { data } = plainMail.safeParse(channel)
    if (data === undefined) return []
    const message = `would send the password in the clear to ${data.host}; use starttls or tls`
    return [{ path: [...list, index, 'security'], message }]
  })
  return [...duplicates(list, channels, nameIn, ['name'], twice), ...inTheClear]
}

function scheduleFaults(sync: unknown): Fault[] {
  const { data } = z.object({ schedule: z.string().optional(), timezone: z.string() }).safeParse(sync)
  if (data === undefined || (data.schedule !== undefined && isCron(data.schedule))) return []
  return [{ path: ['timezone'], message: 'has no use without a cron expression in schedule' }]
}

const section = z.looseObject({}).catch({})

const ldap = z.object({
  source: z.object({
    type: z.literal('ldap'),
    url: z.union([z.string().transform((url) => [url]), z.array(z.string())]).catch([]),
    tls: section,
    users: section,
    groups: z.looseObject({ map: section }).catch({ map: {} }),
  }),
})

/** An option that has no effect because of another one is refused: the author expects an effect. */
function ldapFaults(sync: unknown): Fault[] {
  const source = ldap.safeParse(sync).data?.source
  if (source === undefined) return []
  const { url, tls, users, groups } = source
  const isPlain = tls['startTls'] !== true && url.length > 0 && url.every((each) => /^ldap:/i.test(each))
  const faults: Fault[] = []
  const refuse = (message: string, ...path: readonly string[]) =>
    faults.push({ path: ['source', ...path], message })
  for (const option of isPlain ? ['ca', 'certificate'] : []) {
    if (tls[option] !== undefined)
      refuse('has no use on an unencrypted connection; use ldaps:// or add startTls: true', 'tls', option)
  }
  if (users['disabledWhen'] !== undefined && (users['disabled'] ?? 'keep') === 'keep')
    refuse('has no use while disabled is keep', 'users', 'disabledWhen')
  if (groups['membersFrom'] === 'memberOf' && groups.map['members'] !== undefined)
    refuse('has no use while membersFrom is memberOf', 'groups', 'map', 'members')
  return faults
}

const plainDirectory = z.object({
  directory: z.object({ baseUrl: z.string().regex(/^http:/i), ca: z.unknown() }),
})

function directoryFaults(sync: unknown): Fault[] {
  if (plainDirectory.safeParse(sync).data?.directory.ca === undefined) return []
  return [{ path: ['directory', 'ca'], message: 'has no use on an unencrypted connection; use https://' }]
}

function listOf(raw: unknown, key: string): readonly unknown[] {
  const values = z.record(z.string(), z.unknown()).safeParse(raw).data
  const list = values?.[key]
  return Array.isArray(list) ? list : []
}
