import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ServiceAdmin } from '../../../../src/service/admin/open.ts'
import type { ConformanceRequest, ConformanceStep } from '../../../../src/service/conformance.ts'
import { runAccessService } from '../../../../src/service/cli/program.ts'
import { createFolder } from '../../config/folder.ts'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly performed: readonly (readonly [operation: string, input: object])[]
  readonly compared: ConformanceRequest | undefined
  readonly faults: string | undefined
  readonly closed: number
}

/** Runs a command against a scripted service. */
async function accessService(
  argv: readonly string[],
  { contract = [] }: { readonly contract?: readonly ConformanceStep[] } = {},
): Promise<Outcome> {
  await using folder = await createFolder()
  const file = await folder.write('access-service.yaml', 'service: { keyFile: keys }\n')
  const seen = { performed: [] as [string, object][], closed: 0, faults: undefined as string | undefined }
  let compared: ConformanceRequest | undefined
  const out = { stdout: '', stderr: '' }
  const code = await runAccessService(
    {
      argv,
      stdout: { write: (text: string) => (out.stdout += text) },
      stderr: { write: (text: string) => (out.stderr += text) },
    },
    {
      env: { ACCESS_SERVICE_CONFIG: file },
      parts: {
        openAdmin: () => Promise.resolve(scriptedService(seen)),
        runService: (service, _log, _signal, onReady) => {
          seen.faults = service.faults
          onReady('http://x')
          return Promise.resolve()
        },
        async *compare(request) {
          compared = request
          yield* contract
        },
      },
    },
  )
  return { code, ...out, ...seen, compared }
}

/** A service that answers every operation with its input and what its rows have. */
function scriptedService(seen: { performed: [string, object][]; closed: number }): ServiceAdmin {
  const row = {
    id: 3,
    users: 1234,
    groups: 0,
    status: 'active',
    contact: 'Ada\u001b[2J',
    organization: 2,
    contactId: 11,
    scopes: ['ORG'],
    expiresAt: '2030-01-31T00:00:00.000Z',
    name: 'Ada',
    email: 'ada@x.org',
    target_type: 'ldap',
    allowedDomains: ['x.org'],
    expired: false,
  }
  const answer = (operation: string, input: object) => {
    seen.performed.push([operation, input])
    if (operation === 'rotateKeys') return { keyId: 'k2', sealed: 1, removable: ['k1', 'k0'] }
    if (operation === 'listTokens') return [{ ...row, id: 'abc' }]
    if (operation === 'removeUsersWithoutId') return [row]
    if (operation === 'importFixture')
      return {
        created: { contact: 2 },
        different: ['status of contact 12'],
        leftOut: ['contact 13', 'installation 31 of group 51'],
        notRead: ['/run/ada does not exist'],
      }
    if (operation === 'changeResource') return { ...row, changed: true }
    if (operation === 'removeResource') return { ...row, with: '2 users' }
    return operation.startsWith('list') ? [row] : { ...row, ...input }
  }
  return {
    perform: ((operation: string, input: object) => Promise.resolve(answer(operation, input))) as never,
    createToken: (input) =>
      Promise.resolve({
        ...(answer('addToken', input) as typeof row),
        id: 'abc',
        token: 'am_secret',
      } as never),
    importFile: (path) => Promise.resolve(answer('importFixture', { path }) as never),
    [Symbol.asyncDispose]() {
      seen.closed += 1
      return Promise.resolve()
    },
  }
}

test('start prints its address, and takes faults of the command line', async () => {
  const result = await accessService(['start', '--faults', '500=0.1'])
  expect(result).toMatchObject({
    code: 0,
    faults: '500=0.1',
    stdout: 'The access-management service listens on http://x\n',
  })
})

const CONFORMANCE = [
  'conformance',
  'https://x.org/',
  '--token-file',
  'token',
  '--organization',
  '1',
  '--directory',
  '7',
]

const CONTRACT_ROW = {
  operation: 'getUser',
  number: 5,
  method: 'GET',
  path: '/u/{id}',
  differences: [],
} as const
const GOOD_CASE = { ...CONTRACT_ROW, probe: 'good', state: 'ok' } as const

function contractSteps(
  results: Extract<ConformanceStep, { step: 'endpoint' }>['results'],
  left: string[],
): ConformanceStep[] {
  const service = { baseUrl: 'https://x.org', organizationId: 1, directoryId: 1, writes: false }
  return [
    { step: 'begin', ...service, paths: ['/u/{id}'] },
    { step: 'endpoint', results },
    { step: 'end', left },
  ]
}

test('conformance compares, sums up, and ends with 1 where a service differs or was left with something', async () => {
  const bad = {
    ...CONTRACT_ROW,
    probe: 'no\u001b[2J token',
    state: 'differs',
    differences: [{ expected: 'a', actual: 'b' }],
  } as const
  const argv = [...CONFORMANCE]
  const fine = await accessService(argv, { contract: contractSteps([GOOD_CASE], []) })
  expect(fine).toMatchObject({ code: 0, stderr: '', compared: { writes: false } })
  expect(fine.stdout).toContain('The service follows the API description in 1 case of 1 endpoint.')
  const differing = await accessService(argv, { contract: contractSteps([GOOD_CASE, bad], []) })
  expect(differing.code).toBe(1)
  expect(differing.stdout).toContain(
    ' 5  GET     /u/{id}  differs      1 of 2 differ\n      no\\u001b[2J token: expected a, got b\n',
  )
  const contract = contractSteps([GOOD_CASE], ['u could not be removed'])
  const leaving = await accessService([...argv, '--json'], { contract })
  expect(leaving.code).toBe(1)
  expect(
    leaving.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).step),
  ).toEqual(['begin', 'case', 'end'])
})

test('conformance says whether the service takes lists', async () => {
  const lists = { ...CONTRACT_ROW, probe: 'three entries in one request', state: 'ok' } as const
  const refusing = { ...lists, unstated: { expected: 'three users', actual: '400' } }
  const contract = contractSteps([GOOD_CASE, lists, refusing], [])
  const { code, stdout } = await accessService(CONFORMANCE, { contract })
  expect(code).toBe(0)
  expect(stdout).toContain(
    '  #5 /u/{id} creates three entries with one request: it takes lists\n' +
      '  #5 /u/{id} does not take lists: expected three users, got 400; leave createBatch at 1\n',
  )
})

test('conformance takes --reset-password only with --writes, and needs no configuration', async () => {
  const all = await accessService([
    ...CONFORMANCE,
    '--writes',
    '--reset-password',
    '4',
    '--config',
    'no/such',
  ])
  expect(all.compared).toEqual({
    baseUrl: 'https://x.org',
    organization: 1,
    directory: 7,
    tokenFile: 'token',
    writes: true,
    resetPassword: 4,
  })
  const result = await accessService([...CONFORMANCE, '--reset-password', '4'])
  expect(result).toMatchObject({ code: 64, compared: undefined })
})

test.each([
  [
    'organization create --name Labs --domain a.org --domain b.org',
    [
      'createResource',
      { resource: 'organization', values: { name: 'Labs', allowedDomains: ['a.org', 'b.org'] } },
    ],
    'Organization 3, Ada, is created.\n',
  ],
  [
    'contact create --organization 2 --name Ada --email ada@x.org',
    ['createResource', { resource: 'contact', ownerId: 2, values: { name: 'Ada', email: 'ada@x.org' } }],
    'Contact 3, Ada, of organization 2 is created.\n',
  ],
  [
    'installation create --organization 2 --provider 4 --name App --slug app --url https://a.example --saml',
    [
      'createResource',
      {
        resource: 'installation',
        ownerId: 2,
        values: {
          provider: 4,
          name: 'App',
          slug: 'app',
          configuration: { url: 'https://a.example', saml: true },
        },
      },
    ],
    'Installation 3, Ada, of organization 2 is created.\n',
  ],
  [
    'organization change 3 --name Labs --add-domain c.org --remove-domain a.org',
    [
      'changeResource',
      {
        resource: 'organization',
        id: 3,
        values: { name: 'Labs' },
        add: { allowedDomains: ['c.org'] },
        remove: { allowedDomains: ['a.org'] },
      },
    ],
    'Organization 3, Ada, is changed.\n',
  ],
  [
    'installation change 3 --no-saml',
    ['changeResource', { resource: 'installation', id: 3, values: { configuration: { saml: false } } }],
    'Installation 3, Ada, of organization 2 is changed.\n',
  ],
  [
    'directory remove 3 --with-contents',
    ['removeResource', { resource: 'directory', id: 3, withContents: true }],
    'Directory 3, Ada, of organization 2 is removed, with 2 users.\n',
  ],
  [
    'directory list --organization 2',
    ['listResources', { resource: 'directory', ownerId: 2 }],
    'ID  ORGANIZATION  NAME  TYPE  USERS  GROUPS\n 3             2  Ada   ldap  1,234       0\n',
  ],
  [
    'import access.yaml',
    ['importFixture', { path: 'access.yaml' }],
    '2 contacts created. Different from the file, and left as it is: status of contact 12. Tokens left out, because ' +
      'their contacts exist and their files cannot be read: /run/ada does not exist. Left out, because an operator ' +
      'removed it or what it belongs or refers to: contact 13, installation 31 of group 51.\n',
  ],
  ['user remove 7 8', ['removeUsersWithoutId', { ids: [7, 8] }], '1 user is removed.\n'],
  ['token revoke abc', ['revokeToken', { id: 'abc' }], 'Token abc of contact 11 is revoked.\n'],
  [
    'key rotate',
    ['rotateKeys', {}],
    'Everything is encrypted with the key k2 now; 1 value had to be encrypted again. Only older backups of ' +
      'this store still need k1, k0. Remove their lines from the file, unless another store uses the keys.\n',
  ],
] as const)('%s', async (line, performed, stdout) => {
  const result = await accessService(line.split(' '))
  expect(result).toMatchObject({ code: 0, performed: [performed], stdout, stderr: '', closed: 1 })
})

test('token create prints the token alone, so that a file can take it', async () => {
  const argv = ['token', 'create', '--contact', '11', '--scope', 'ORG', '--scope', 'ORG_READ']
  const result = await accessService([...argv, '--expires', '2030-01-31T00:00:00Z'])
  const input = { contactId: 11, scopes: ['ORG', 'ORG_READ'], expiresAt: '2030-01-31T00:00:00.000Z' }
  expect(result.performed).toEqual([['addToken', input]])
  expect(result.stdout).toBe('am_secret\n')
  expect(result.stderr).toBe(
    'Token abc of contact 11 allows ORG, ORG_READ until 2030-01-31 00:00:00Z. It is not shown again.\n',
  )
  const json = await accessService([...argv, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ id: 'abc', token: 'am_secret' })
  expect(json.stderr).toBe('')
})

test('token create writes the token into a file of its own, and shows it nowhere', async () => {
  await using folder = await createFolder()
  const file = join(folder.path, 'token')
  const argv = ['token', 'create', '--contact', '11', '--scope', 'ORG', '--file', file]
  for (const more of [[], ['--json']]) {
    const result = await accessService([...argv, ...more])
    expect(result.code).toBe(0)
    expect(result.stdout).toContain(file)
    expect(result.stdout + result.stderr).not.toContain('am_secret')
    expect(await readFile(file, 'utf8')).toBe('am_secret\n')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    if (more.length === 0) {
      const again = await accessService(argv)
      expect(again).toMatchObject({ code: 64, performed: [] })
      expect(again.stderr).toMatch(/^The token cannot be written into .*: it exists; remove it or/)
      await rm(file)
    }
  }
})

test('token list never shows what rewrites a terminal', async () => {
  const { stdout } = await accessService(['token', 'list'])
  expect(stdout).toContain('Ada\\u001b[2J')
})

test('key create needs no configuration', async () => {
  await using folder = await createFolder()
  const argv = ['key', 'create', join(folder.path, 'keys'), '--config', 'no/such.yaml']
  const made = await accessService(argv)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toMatch(/\/keys has the key \S+\. Keep a copy elsewhere/)
  const added = await accessService(argv)
  expect(added.stdout).toMatch(/has the new key \S+ in front of \S+\. .* access-service key rotate\.\n$/)
})

const REFUSED: readonly [argv: readonly string[], code: number, sentence: RegExp][] = [
  [[], 64, /^A command is missing; see access-service --help\.\n$/],
  [
    ['contact', 'change', '1', '--status', 'Blocked'],
    64,
    /argument 'Blocked' is invalid\. Allowed choices are active, blocked/,
  ],
  [['contact', 'change', '1'], 64, /^Say what to change, such as --name NAME; access-service contact/],
  [['token', 'create', '--contact', '1'], 64, /^Required option '--scope <scope>' not specified;/],
  ...['soon', '2027-02-30', '2027-02-30T00:00:00Z', '2027-01-30T00:00:00', '36501d', '999999999d'].map(
    (expires): [string[], number, RegExp] => [
      ['token', 'create', '--contact', '1', '--scope', 'ORG', '--expires', expires],
      64,
      /^.*must be a duration such as 30d, 36500d at most, or a time such as 2030-01-31T00:00:00Z; see.*\n$/,
    ],
  ),
  [
    ['token', 'lst'],
    64,
    /^Unknown command 'lst' \(Did you mean list\?\); see access-service token --help\.\n$/,
  ],
  [
    ['conformance', 'x.org', ...CONFORMANCE.slice(2)],
    64,
    /^The address of the service must be a URL that begins with https?:/,
  ],
  [
    ['conformance', 'https://a:geheim@x.org', ...CONFORMANCE.slice(2)],
    64,
    /^The address of the service must not hold a password; the token goes into a file of its own\.\n$/,
  ],
  [
    ['contact', 'list', '--config', 'no/such.yaml'],
    78,
    /^There is no configuration file no\/such\.yaml.*\n$/,
  ],
  [
    ['token', 'create', '--contact', '1', '--scope', 'ORG', '--file', ''],
    64,
    /It must not be empty; see access-service token create --help\.\n$/,
  ],
]

test.each(REFUSED)('refused with one sentence: access-service %j', async (argv, code, expected) => {
  const result = await accessService(argv)
  expect(result).toMatchObject({ code, stdout: '', performed: [] })
  expect(result.stderr).toMatch(expected)
})

const COMMANDS = [
  'start',
  ...['organization', 'contact', 'directory', 'provider', 'installation', 'subscription', 'group'].flatMap(
    (name) => ['create', 'change', 'remove', 'list'].map((verb) => `${name} ${verb}`),
  ),
  'import',
  'user list',
  'user remove',
  'token create',
  'token list',
  'token revoke',
  'key create',
  'key rotate',
  'conformance',
]

test.each(COMMANDS)('%s --help shows examples', async (command) => {
  const result = await accessService([...command.split(' '), '--help'])
  expect(result.code).toBe(0)
  expect(result.stdout).toContain(`Usage: access-service ${command}`)
  expect(result.stdout).toContain('Examples:\n  access-service ')
})
