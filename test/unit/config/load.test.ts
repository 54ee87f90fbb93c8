import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { loadConfig, type Config } from '../../../src/config/load.ts'
import { DirsyncdError } from '../../../src/base/errors.ts'
import { createFolder } from './folder.ts'

const LDAP = `
      type: ldap
      url: ldap://ldap.example.org
      bind: { dn: "cn=reader,dc=example,dc=org", password: { env: LDAP_PASSWORD } }
      users: { base: "ou=people", filter: (uid=*), map: { external_id: entryUUID, email: mail } }`
const DIRECTORY = `{ baseUrl: https://access.example.com, organizationId: 1, directoryId: 7, token: { env: TOKEN } }`
const CSV = '{ type: csv, users: { path: users.csv, map: { external_id: id } } }'
const CORP = `syncs:
  - name: corp
    source: ${LDAP}
    directory: ${DIRECTORY}
`

/** A configuration with a channel of e-mail. */
function mailTo(host: string, more: string): string {
  return `${CORP}notifications: { channels: [{ name: m, type: email, host: "${host}", ${more}, from: a@b.c, to: [a@b.c] }] }`
}

async function load(text: string, env: Record<string, string> = {}): Promise<Config> {
  await using folder = await createFolder()
  return await loadConfig({ file: await folder.write('dirsyncd.yaml', text), env })
}

/** The lines of the refusal, without the folder. */
async function faultsOf(text: string): Promise<string[]> {
  await using folder = await createFolder()
  const file = await folder.write('dirsyncd.yaml', text)
  const error = await loadConfig({ file, env: {} }).catch((thrown: unknown) => thrown)
  if (!(error instanceof DirsyncdError)) return expect.fail('the configuration was accepted')
  expect(error.code).toBe('config-invalid')
  expect(error.exitCode).toBe(78)
  return error.message.split('\n').map((line) => line.replaceAll(`${folder.path}/`, ''))
}

const ROOT = rootCertificates[0] ?? ''
const SECRET_REMEDY =
  'write { env: NAME }, { file: PATH }, { credential: NAME } or { command: [program, argument] }'

const REFUSED: readonly { name: string; text: string; line: string }[] = [
  {
    name: 'an unknown key names the nearest known one',
    text: CORP.replace('(uid=*)', '(uid=*), scpoe: one'),
    line: 'dirsyncd.yaml:7:52: syncs[0].source.users.scpoe: is not a known option; did you mean scope?',
  },
  {
    name: 'an unknown key that is near to nothing lists what is known',
    text: `${CORP}admin: { qqqqqqqqqqqq: 1 }`,
    line:
      'dirsyncd.yaml:9:10: admin.qqqqqqqqqqqq: is not a known option; known here are listen, hosts, token, ' +
      'userHeader, trustedProxies, proxySecret',
  },
  ...['127.0.0.1', '127.8.0.0/16', '0.0.0.0/0', '::1', '::/0', '::ffff:127.0.0.1', '::ffff:0:0/96'].map(
    (each) => ({
      name: `a reverse proxy in ${each}, where every account of the machine is`,
      text: `${CORP}admin: { userHeader: X-Remote-User, trustedProxies: ["${each}"] }`,
      line:
        'dirsyncd.yaml:9:54: admin.trustedProxies[0]: has addresses of this machine, from which each of its accounts could name ' +
        'any user; add admin.proxySecret: { file: PATH }, and have the proxy send it in the header X-Dirsyncd-Proxy-Secret',
    }),
  ),
  {
    name: 'the secret of a proxy that names no user',
    text: `${CORP}admin: { proxySecret: { env: PROXY } }`,
    line: 'dirsyncd.yaml:9:10: admin.proxySecret: has no use without admin.userHeader',
  },
  {
    name: 'a header of users that is believed of nobody',
    text: `${CORP}admin: { userHeader: X-Remote-User }`,
    line: 'dirsyncd.yaml:9:10: admin.userHeader: is believed of nobody; name the reverse proxy in admin.trustedProxies',
  },
  {
    name: 'a host with a port',
    text: `${CORP}admin: { hosts: ["dirsyncd.example.org:8080"] }`,
    line: 'dirsyncd.yaml:9:18: admin.hosts[0]: must be the name of a host such as dirsyncd.example.org, without a port',
  },
  {
    name: 'a missing option is reported where its section stands',
    text: CORP.replace('base: "ou=people", ', ''),
    line: 'dirsyncd.yaml:7:7: syncs[0].source.users.base: is missing; it must be a DN or a list of DNs',
  },
  {
    name: 'a bad cron expression',
    text: CORP.replace('    source', '    schedule: "61 * * * *"\n    source'),
    line:
      'dirsyncd.yaml:3:5: syncs[0].schedule: is not a valid cron expression (Invalid value for minute: 61); ' +
      'an example is "*/15 * * * *"',
  },
  {
    name: 'a cron expression without quotes',
    text: CORP.replace('    source', '    schedule: */15 * * * *\n    source'),
    line:
      'dirsyncd.yaml:3:15: a value that begins with * or & has a meaning of its own in YAML; put it in quotes, as in ' +
      '"*/15 * * * *"',
  },
  {
    name: 'an interval without a unit',
    text: CORP.replace('    source', '    schedule: "15"\n    source'),
    line: 'dirsyncd.yaml:3:5: syncs[0].schedule: must be a cron expression such as "*/15 * * * *" or an interval such as 15m',
  },
  {
    name: 'a time zone that does not exist',
    text: CORP.replace('    source', '    schedule: "@daily"\n    timezone: Mars/Base\n    source'),
    line: 'dirsyncd.yaml:4:5: syncs[0].timezone: must be the name of a time zone, such as Europe/Zagreb or UTC',
  },
  {
    name: 'a duration without a unit',
    text: CORP.replace('      users', '      timeouts: { answer: 60 }\n      users'),
    line: 'dirsyncd.yaml:7:19: syncs[0].source.timeouts.answer: must be a duration with a unit, such as 500ms, 30s, 15m or 2h',
  },
  {
    name: 'a literal where a secret belongs',
    text: CORP.replace('{ env: TOKEN }', 'hunter2-hunter2'),
    line: `dirsyncd.yaml:8:90: syncs[0].directory.token: must say where the secret is, not the secret itself; ${SECRET_REMEDY}`,
  },
  {
    name: 'a number in the command of a secret',
    text: CORP.replace('{ env: TOKEN }', '{ command: [sleep, 100] }'),
    line: 'dirsyncd.yaml:8:90: syncs[0].directory.token: has a command with a part that is no text; put it in quotes, as in "100"',
  },
  {
    name: 'a template that was not filled in',
    text: CORP.replace('{ env: TOKEN }', '{{ hunter2 }}'),
    line: `dirsyncd.yaml:8:98: a key is a text, and this one is a list or has keys of its own; was a template, such as {{ name }}, not filled in?`,
  },
  ...['/api/v2', '/api/v2/', '/gateway/api/v2/organizations/1'].map((path) => ({
    name: `a base URL with ${path}`,
    text: CORP.replace('https://access.example.com', `https://access.example.com${path}`),
    line:
      'dirsyncd.yaml:8:18: syncs[0].directory.baseUrl: must not have /api/v2, which is added to it; leave that out, and ' +
      'what is behind it',
  })),
  {
    name: 'no limit of deletes',
    text: CORP.replace('    source', '    guards: { users: { maxDeletes: null } }\n    source'),
    line: 'dirsyncd.yaml:3:24: syncs[0].guards.users.maxDeletes: must be a number: deletes always have a limit, which may be large',
  },
  {
    name: 'a misspelled guard',
    text: CORP.replace('    source', '    guards: { user: { maxDeletes: 1 } }\n    source'),
    line: 'dirsyncd.yaml:3:15: syncs[0].guards.user: is not a known option; did you mean users?',
  },
  {
    name: 'a missing secret',
    text: CORP.replace(', password: { env: LDAP_PASSWORD }', ''),
    line: `dirsyncd.yaml:6:7: syncs[0].source.bind.password: is missing; ${SECRET_REMEDY}`,
  },
  {
    name: 'a password in the URL of the store',
    text: `store: postgres://dirsyncd:hunter2-hunter2@db/dirsyncd\n${CORP}`,
    line:
      'dirsyncd.yaml:1:1: store: must not hold a password; leave it out and add storePassword: { file: PATH } or ' +
      '{ env: NAME }',
  },
  {
    name: 'a store of an unknown kind',
    text: `store: sqlite\n${CORP}`,
    line: 'dirsyncd.yaml:1:1: store: must be embedded or a URL such as postgres://user@host/database',
  },
  {
    name: 'a CA file that is missing',
    text: CORP.replace('ldap://', 'ldaps://').replace(
      '      bind',
      '      tls: { ca: no-such.pem }\n      bind',
    ),
    line:
      'dirsyncd.yaml:6:14: syncs[0].source.tls.ca: the CA file no-such.pem does not exist; put the PEM file of the ' +
      "server's CA there",
  },
  {
    name: 'a proxy with a password',
    text: CORP.replace('organizationId', 'proxy: "http://u:hunter2@p", organizationId'),
    line: 'dirsyncd.yaml:8:55: syncs[0].directory.proxy: must not hold a password; leave it out',
  },
  {
    name: 'a reader by certificate that has a DN too',
    text: CORP.replace('ldap://', 'ldaps://').replace(
      /bind: .*/,
      'bind: { external: true, dn: x }\n      tls: { certificate: a.pem, key: b.pem }',
    ),
    line: 'dirsyncd.yaml:6:31: syncs[0].source.bind.dn: is not a known option; known here are external',
  },
  {
    name: 'two syncs of one name',
    text: `${CORP}  - { name: corp, source: ${CSV}, directory: ${DIRECTORY.replace('7', '8')} }\n`,
    line: 'dirsyncd.yaml:9:7: syncs[1].name: is the name of syncs[0] too; every sync has its own',
  },
  {
    name: 'a password that a mail would send in the clear',
    text: mailTo('mail.example.org', 'security: none, user: u, password: { env: P }'),
    line:
      'dirsyncd.yaml:9:79: notifications.channels[0].security: would send the password in the clear to ' +
      'mail.example.org; use starttls or tls',
  },
  {
    name: 'two syncs on one directory, spelled differently',
    text: `${CORP}  - { name: b, source: ${CSV}, directory: ${DIRECTORY.replace('https://access.example.com', 'HTTPS://Access.Example.com:443/')} }\n`,
    line: 'dirsyncd.yaml:9:93: syncs[1].directory: is the directory of the sync "corp" too; two syncs must never write to one directory',
  },
  {
    name: 'a source of an unknown type',
    text: `syncs: [{ name: a, source: { type: ldapp }, directory: ${DIRECTORY} }]`,
    line: 'dirsyncd.yaml:1:30: syncs[0].source.type: must be ldap, csv or command',
  },
  {
    name: 'a key that is given twice',
    text: `dataDir: a\ndataDir: b\n${CORP}`,
    line: 'dirsyncd.yaml:2:1: this key was already given above; keep one of them',
  },
  {
    name: 'a section of the other program',
    text: `service: { keyFile: keys }\n${CORP}`,
    line:
      'dirsyncd.yaml:1:1: service: belongs to access-service, a program with a file of its own: move it to ' +
      '/etc/access-service/access-service.yaml or to $ACCESS_SERVICE_CONFIG, and set its dataDir, which was the folder ' +
      'service in this dataDir',
  },
  {
    name: 'an empty file',
    text: '',
    line: 'dirsyncd.yaml:1:1: syncs: is empty; name at least one sync, as config/example.yaml shows',
  },
  {
    name: 'a past of runs that is longer than a hundred years',
    text: `retention: { time: 36501d }\n${CORP}`,
    line: 'dirsyncd.yaml:1:14: retention.time: must be a duration from 1d to 36500d',
  },
]

test.each([
  [
    'one that is broken',
    `${ROOT}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    'certificate 2 of 2 in the CA file ca.pem is broken',
  ],
  [
    'one that is cut off',
    `${ROOT}\n${ROOT.slice(0, 300)}`,
    'a certificate in the CA file ca.pem is cut off; copy the whole file',
  ],
])('a CA file with a good certificate and %s is refused', async (_, pem, why) => {
  await using folder = await createFolder()
  await folder.write('ca.pem', pem)
  const text = CORP.replace('ldap://', 'ldaps://')
    .replace('organizationId', 'ca: ca.pem, organizationId')
    .replace('bind:', 'tls: { ca: ca.pem }\n      bind:')
  const loading = loadConfig({ file: await folder.write('dirsyncd.yaml', text), env: {} })
  const error: Error = await loading.then(
    () => expect.fail('it was accepted'),
    (thrown) => thrown,
  )
  const lines = error.message.replaceAll(`${folder.path}/`, '').split('\n')
  expect(lines.map((line) => line.replace(/^[^ ]+ syncs\[0\]\./, ''))).toEqual([
    `source.tls.ca: ${why}`,
    `directory.ca: ${why}`,
  ])
})

test.each(REFUSED)('refused: $name', async ({ text, line }) => {
  const faults = await faultsOf(text)
  expect(faults.map((fault) => fault.replace(/\/tmp\/\S+\//g, ''))).toEqual([line])
  expect(faults.join()).not.toContain('hunter2')
})

test('brackets without end are refused with one sentence', async () => {
  const faults = await faultsOf(`syncs: ${'['.repeat(20_000)}`)
  expect(faults).toEqual([expect.stringMatching(/^dirsyncd\.yaml:1:\d+: brackets are nested too deeply$/)])
})

test('a CA of a directory that is not encrypted is refused', async () => {
  const text = CORP.replace('https:', 'http:').replace('organizationId', 'ca: a.pem, organizationId')
  expect(await faultsOf(text)).toContainEqual(
    expect.stringContaining('directory.ca: has no use on an unencrypted connection; use https://'),
  )
})

test.each(['127.0.0.1', '::1', 'LocalHost'])(
  'a mail server on this machine, %s, may get a password in the clear',
  async (host) => {
    const { notifications } = await load(mailTo(host, 'security: none, user: u, password: { env: P }'))
    expect(notifications.channels).toMatchObject([{ host, security: 'none' }])
  },
)

test('a mail server elsewhere may get mails in the clear without a password', async () => {
  const { notifications } = await load(mailTo('mail.example.org', 'security: none'))
  expect(notifications.channels).toHaveLength(1)
})

test('every fault is reported at once, in the order of the file', async () => {
  const faults = await faultsOf(`store: postgres://u:hunter2@db/x
queu: store
syncs:
  - name: Corp
    source: { type: csv, users: { path: users.csv, delimiter: "--", map: {} } }
    directory: ${DIRECTORY.replace('1,', '0,')}
    policy: miror
  - name: b
    source: ${CSV}
    directory: ${DIRECTORY}
  - name: b
    source: ${CSV}
    directory: { token: hunter2 }
`)
  expect(faults.map((fault) => fault.split(': ')[1])).toEqual([
    'store',
    'queu',
    'syncs[0].name',
    'syncs[0].source.users.delimiter',
    'syncs[0].source.users.map.external_id',
    'syncs[0].directory.organizationId',
    'syncs[0].policy',
    'syncs[2].name',
    'syncs[2].directory.baseUrl',
    'syncs[2].directory.organizationId',
    'syncs[2].directory.directoryId',
    'syncs[2].directory.token',
  ])
  expect(faults.join()).not.toContain('hunter2')
})

test('broken YAML never shows the text that it stumbles over', async () => {
  const faults = await faultsOf(`token: *hunter2\nother: "hunter2\n`)
  expect(faults.join()).not.toContain('hunter2')
})

test('a missing file is named, with what to do', async () => {
  const loading = loadConfig({ file: 'no/such.yaml', env: {} })
  await expect(loading).rejects.toThrow(
    'There is no configuration file no/such.yaml; write one with dirsyncd init, or copy config/example.yaml to it and edit it, or name another file with ' +
      '--config or DIRSYNCD_CONFIG.',
  )
})

test('without a name it is the first of two places that exists, and both are named where none does', async () => {
  await using folder = await createFolder()
  const usualFiles = [join(folder.path, 'first.yaml'), join(folder.path, 'second.yaml')]
  const place = { env: {}, usualFiles }
  await expect(loadConfig(place)).rejects.toThrow(
    `There is no configuration file ${usualFiles.join(' or ')}; write one with dirsyncd init, or copy config/example.yaml to one of them and edit it, or ` +
      'name another file with --config or DIRSYNCD_CONFIG.',
  )
  await folder.write('second.yaml', CORP)
  expect(await loadConfig(place)).toMatchObject({ file: usualFiles[1] })
  await folder.write('first.yaml', CORP)
  expect(await loadConfig(place)).toMatchObject({ file: usualFiles[0] })
  expect(await loadConfig({ ...place, env: { DIRSYNCD_CONFIG: usualFiles[1] } })).toMatchObject({
    file: usualFiles[1],
  })
})

test('without --config the environment names the file', async () => {
  const loading = loadConfig({ env: { DIRSYNCD_CONFIG: 'from/environment.yaml' } })
  await expect(loading).rejects.toThrow('from/environment.yaml')
})

test('defaults are safe, paths start at the folder of the file', async () => {
  await using folder = await createFolder()
  const file = await folder.write('dirsyncd.yaml', `dataDir: data\n${CORP}`)
  const config = await loadConfig({ file, env: {} })
  expect(config.dataDir).toBe(join(folder.path, 'data'))
  expect(config.admin.listen).toEqual({ host: '127.0.0.1', port: 8080 })
  expect(config.store).toEqual({ kind: 'embedded' })
  const limits = {
    maxDeletes: 50,
    maxDeletePercent: 10,
    maxDeletesPerDay: 100,
    maxUpdates: null,
    maxUpdatePercent: 50,
  }
  expect(config.syncs[0]).toMatchObject({
    schedule: undefined,
    policy: 'mirror',
    directory: { membership: 'report', readConcurrency: 4, writeConcurrency: 8, allowedDomains: undefined },
    guards: {
      users: limits,
      groups: limits,
      memberships: { ...limits, maxUpdatePercent: null },
      minSourceUsers: 1,
      maxSourceShrinkPercent: 20,
    },
  })
})

async function retentionOf(text: string): Promise<object> {
  return (await load(`${text}\n${CORP}`)).retention
}

test('the past is kept for 90 days and five million rows, or as the configuration says', async () => {
  expect(await retentionOf('')).toEqual({ timeMs: 90 * 86_400_000, rows: 5_000_000 })
  expect(await retentionOf('retention: { time: 30d, rows: 100000 }')).toEqual({
    timeMs: 30 * 86_400_000,
    rows: 100_000,
  })
  await expect(retentionOf('retention: { time: 23h }')).rejects.toThrow(
    'retention.time: must be a duration from 1d to 36500d',
  )
})

test.each([
  ['"*/15 * * * *"', { kind: 'cron', pattern: '*/15 * * * *', timezone: undefined }],
  ['"@hourly"', { kind: 'cron', pattern: '@hourly', timezone: undefined }],
  ['15m', { kind: 'interval', everyMs: 900_000 }],
])('the schedule %s', async (written, schedule) => {
  const config = await load(CORP.replace('    source', `    schedule: ${written}\n    source`))
  expect(config.syncs[0]?.schedule).toEqual(schedule)
})

test('who may see the admin pages: those with the token, and those whom a reverse proxy names', async () => {
  const { admin, worker } = await load(`${CORP}
admin:
  listen: 0.0.0.0:8080
  hosts: [Dirsyncd.example.org]
  userHeader: X-Remote-User
  trustedProxies: [10.0.0.0/8, "2001:db8::/32"]
worker: { listen: 0.0.0.0:8081 }`)
  expect(admin).toEqual({
    listen: { host: '0.0.0.0', port: 8080 },
    hosts: ['dirsyncd.example.org'],
    token: undefined,
    proxy: { header: 'x-remote-user', networks: ['10.0.0.0/8', '2001:db8::/32'], secret: undefined },
  })
  expect(worker.listen).toEqual({ host: '0.0.0.0', port: 8081 })
  const own =
    '{ token: { env: ADMIN }, userHeader: X-User, trustedProxies: ["::1"], proxySecret: { env: PROXY } }'
  const { token, proxy } = (await load(`${CORP}admin: ${own}`)).admin
  expect([token?.describe(), proxy?.secret?.describe()]).toEqual(['env ADMIN', 'env PROXY'])
})

test('the TCP listener of the admin pages can be turned off', async () => {
  const config = await load(`admin: { listen: false }\n${CORP}`)
  expect(config.admin.listen).toBeUndefined()
})

test('several servers, a client certificate and time-outs of their own', async () => {
  await using folder = await createFolder()
  await folder.write('client.pem', 'the certificate')
  const text = CORP.replace('ldap://ldap.example.org', '[ldaps://a, ldaps://b]').replace(
    /bind: .*/,
    `bind: { external: true }
      tls: { certificate: client.pem, key: { env: CLIENT_KEY } }
      timeouts: { connect: 1s, firstAnswer: 2m }`,
  )
  const file = await folder.write('dirsyncd.yaml', text)
  const config = await loadConfig({ file, env: { CLIENT_KEY: 'the key' } })
  const [sync] = config.syncs
  if (sync?.source.type !== 'ldap') throw new Error('not LDAP')
  const { options } = sync.source
  expect(options).toMatchObject({
    url: ['ldaps://a', 'ldaps://b'],
    bind: { external: true },
    timeouts: {
      connectMs: 1000,
      handshakeMs: 1000,
      bindMs: 1000,
      firstAnswerMs: 120_000,
      answerMs: 60_000,
    },
  })
  expect([await options.tls.certificate?.(), await options.tls.key?.()]).toEqual([
    'the certificate',
    'the key',
  ])
})

test('a CA file is read when the configuration is loaded', async () => {
  await using folder = await createFolder()
  await folder.write('ca.pem', rootCertificates[0] ?? '')
  const text = CORP.replace('ldap://', 'ldaps://').replace(
    '      bind',
    '      tls: { ca: ca.pem }\n      bind',
  )
  const config = await loadConfig({ file: await folder.write('dirsyncd.yaml', text), env: {} })
  expect(config.syncs[0]?.source.options).toMatchObject({
    tls: { ca: expect.stringContaining('-----BEGIN CERTIFICATE-----') },
  })
})

test('secrets are read when they are needed', async () => {
  const config = await load(CORP, { TOKEN: 'the-token', LDAP_PASSWORD: 'the-password' })
  const sync = config.syncs[0]
  expect(await sync?.directory.token.read()).toBe('the-token')
  const source = sync?.source.type === 'ldap' ? sync.source.options : undefined
  expect(source?.bind?.external !== true && (await source?.bind?.password())).toBe('the-password')
})

test('the configuration is frozen to the ground', async () => {
  const config = await load(CORP)
  expect(Object.isFrozen(config)).toBe(true)
  expect(Object.isFrozen(config.syncs)).toBe(true)
  expect(Object.isFrozen(config.syncs[0]?.guards.users)).toBe(true)
  expect(Object.isFrozen(config.syncs[0]?.source.options.users.map)).toBe(true)
})
