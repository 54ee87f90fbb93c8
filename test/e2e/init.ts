import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startApiProxy } from '../support/api-proxy.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { FIXTURE } from '../support/fixture.ts'
import { ldif } from '../support/people.ts'
import { runCommand, startProgram } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { freePort } from '../support/server-process.ts'
import { type ServiceSite, startServiceSite } from '../support/site.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { tempDir, type TempDir } from '../support/temp.ts'
import { KEYS, openTerminal } from '../support/terminal.ts'
import { eventually } from '../support/eventually.ts'

const PEOPLE = 60

/** Somebody without an e-mail, and a group in a group. */
const ODD = [
  ldif(`uid=silent,ou=people,${BASE}`, {
    objectClass: ['inetOrgPerson'],
    uid: ['silent'],
    cn: ['Silent Sue'],
    sn: ['Sue'],
    employeeType: ['robot'],
  }),
  ldif(`cn=Everybody,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['Everybody'],
    member: [`cn=Team 0000,ou=groups,${BASE}`, `cn=Team 0001,ou=groups,${BASE}`],
  }),
]

const stack = new AsyncDisposableStack()
let slapd: Slapd
let service: ServiceSite
let fingerprint: string
let dir: TempDir

beforeAll(async () => {
  slapd = await startSlapd({ people: PEOPLE, groups: 5, ldifs: ODD })
  stack.defer(() => slapd.close())
  service = stack.use(await startServiceSite())
  const pem = await readFile(join(slapd.directory, 'server.pem'), 'utf8')
  fingerprint = new X509Certificate(pem).fingerprint256
})

afterAll(() => stack.disposeAsync())

/** An empty folder; only the secrets that options name are there. */
beforeEach(async () => {
  dir = await tempDir()
  stack.use(dir)
})

function configFile(): string {
  return join(dir.path, 'conf', 'dirsyncd.yaml')
}

const ENV = { LDAP_PASSWORD: '', TOKEN: FIXTURE.token, WRONG: 'wrong', READ_ONLY: FIXTURE.readOnlyToken }

function init(...args: readonly string[]) {
  const env = { ...ENV, LDAP_PASSWORD: slapd.readers.reader.password }
  return runCommand(['init', '--file', configFile(), ...args], { env })
}

const ldapOptions = () => [
  '--source',
  'ldap',
  '--url',
  slapd.ldapsUrl,
  '--trust',
  fingerprint,
  '--bind-dn',
  slapd.readers.reader.dn,
  '--bind-password-env',
  'LDAP_PASSWORD',
]

const apiOptions = () => [
  '--api-url',
  service.baseUrl,
  '--organization',
  String(FIXTURE.organizationId),
  '--directory',
  String(FIXTURE.directoryId),
  '--token-env',
  'TOKEN',
  '--data-dir',
  join(dir.path, 'data'),
]

async function written(): Promise<any> {
  return parse(await readFile(configFile(), 'utf8'))
}

function file(name: string): string {
  return join(dir.path, name)
}

/** Every file and folder below the test's folder. */
async function left(): Promise<string[]> {
  return (await readdir(dir.path, { recursive: true })).toSorted()
}

const SECRET = 'am_63LwvhUq8yZpXcVbNmKjHgFdSaQwErTy'

const { enter, down, clear, ctrlC } = KEYS

async function triedOut(): Promise<string[]> {
  const { users, groups } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  return [...users.keys(), ...groups.keys()].filter((id) => id.startsWith('dirsyncd-check-'))
}

/** Without a terminal, at a service that never answers a PATCH of a group. */
async function startFindingOut() {
  await writeFile(file('users.csv'), 'id,mail\nu1,a@example.org\n')
  await writeFile(file('groups.csv'), 'id,name\ng1,Sales\n')
  await writeFile(file('members.csv'), 'group,user\ng1,u1\n')
  await using owned = new AsyncDisposableStack()
  const proxy = owned.use(await startApiProxy(service.baseUrl))
  let requests = 0
  proxy.intercept = async ({ method, url }) => {
    if (method !== 'PATCH' || !url.includes('/groups/dirsyncd-check-')) return undefined
    requests += 1
    return await new Promise<never>(() => {})
  }
  const files = ['users', 'groups', 'members'].flatMap((name) => [`--csv-${name}`, file(`${name}.csv`)])
  const options = ['--source', 'csv', ...files, '--map-id', 'id', '--map-email', 'mail', ...apiOptions()]
  const slow = ['--api-url', proxy.baseUrl, '--membership', 'find-out', '--yes']
  const program = owned.use(startProgram(['init', '--file', configFile(), ...options, ...slow], { env: ENV }))
  await eventually(() => expect(requests).toBe(1))
  const all = owned.move()
  return { program, options, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** What `npm test` runs. */
export function initTests(): void {
  test('init with the options of an LDAP server writes a configuration that plan and sync work with', async () => {
    const { code, stdout, stderr } = await init(...ldapOptions(), ...apiOptions(), '--yes')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

    expect(stdout).toContain(`can be used   ${PEOPLE + 1} users; ${PEOPLE} with e-mail, all with a name`)
    expect(stdout).toContain(`planned    ${PEOPLE + 1} creations of users, 6 creations of groups`)
    expect(stdout).toContain(`dirsyncd plan corp --config ${configFile()}`)
    expect(await left()).toEqual(['conf', 'conf/dirsyncd.yaml', 'conf/ldap-ca.pem'])

    const { syncs } = await written()
    expect(syncs).toEqual([
      {
        name: 'corp',
        schedule: '15m',
        source: {
          type: 'ldap',
          url: slapd.ldapsUrl,
          tls: { ca: 'ldap-ca.pem' },
          bind: { dn: slapd.readers.reader.dn, password: { env: 'LDAP_PASSWORD' } },
          users: {
            base: `ou=people,${BASE}`,
            filter: '(objectClass=inetOrgPerson)',
            map: {
              external_id: 'entryUUID',
              email: 'mail',
              name: ['{givenName} {sn}', 'cn'],
              employee_id: 'employeeNumber',
            },
          },
          groups: {
            base: `ou=groups,${BASE}`,
            filter: '(objectClass=groupOfNames)',
            nested: 'flatten',
            map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
          },
        },
        directory: {
          baseUrl: service.baseUrl,
          organizationId: FIXTURE.organizationId,
          directoryId: FIXTURE.directoryId,
          token: { env: 'TOKEN' },
          membership: 'report',
        },
        policy: 'mirror',
      },
    ])

    await putEmptyStore(join(dir.path, 'data'))
    const env = { ...ENV, LDAP_PASSWORD: slapd.readers.reader.password }
    const command = (...args: readonly string[]) => runCommand([...args, '--config', configFile()], { env })
    expect(await command('plan', 'corp')).toMatchObject({ code: 2, stderr: '' })
    expect(await command('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    const { users, groups } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
    expect([users.size, groups.size]).toEqual([PEOPLE + 1, 6])
    expect([...users.values()].map(({ name }) => name)).toContain('Silent Sue')
  })

  test('init sends no password to a server with another certificate than that of --trust', async () => {
    const other = fingerprint.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    const { code, stderr } = await init(...ldapOptions(), ...apiOptions(), '--trust', other, '--yes')
    expect(stderr).toMatch(/shows a certificate with .* which is not that of --trust\.\n$/)
    expect(code).toBe(1)
    expect(await left()).toEqual([])
  })

  test('init leaves no password behind when the terminal is closed during the first plan', async () => {
    await using silent = await startSlapd({ people: 40 })
    const reader = ['--bind-dn', silent.readers.reader.dn, '--bind-password-env', 'LDAP_PASSWORD']
    const source = ['--source', 'ldap', '--url', silent.url, ...reader, '--no-groups']
    const args = ['init', '--file', configFile(), ...source, ...apiOptions(), '--yes']
    const env = { ...ENV, LDAP_PASSWORD: silent.readers.reader.password }
    await using program = startProgram(args, { env })
    await program.waitForOutput(/Making a first plan/)
    await eventually(async () => expect((await left()).join()).toContain('.dirsyncd-init-'))
    program.kill('SIGHUP')
    expect(await program.ended).toMatchObject({ code: 143, stderr: '' })
    expect(await left()).toEqual([])
  })

  test('init at a terminal accepts corrections of wrong answers, and writes secrets that only their owner may read', async () => {
    await using terminal = openTerminal(['init', '--data-dir', 'data'], dir.path)
    const { reader } = slapd.readers
    const answers: readonly (readonly [RegExp, string])[] = [
      [/Where are the users and groups now/, enter],
      [/LDAP server/, `ldaps://nobody.invalid${enter}`],
      [/the host name is unknown[^]*LDAP server/, `${clear}${slapd.ldapsUrl}${enter}`],
      [/SHA-256[^]*certificate of your server/, `n${enter}`],
      [/is not trusted, so nothing was sent[^]*LDAP server/, enter],
      [/certificate of your server/, `y${enter}`],
      [/How does dirsyncd log in/, enter],
      [/DN of this user/, `${reader.password}${enter}`],
      [/It must be a DN such as/, `${clear}${reader.dn}${enter}`],
      [/Password of this user/, `wrong${enter}`],
      [/wrong password[^]*How does dirsyncd log in/, enter],
      [/DN of this user/, enter],
      [/Password of this user/, `${reader.password}${enter}`],
      [/Where are the people/, `${down}${enter}`],
      [/In which[^]*ou=people[^]*ou=external/, ` ${enter}`],
      [/Who is left out[^]*employeetype {2}robot {2}\(1 entry\)/, ` ${down} ${enter}`],
      [/Who else is left out/, `(uid=p${enter}`],
      [/is not an LDAP filter/, `${clear}uid=nobody${enter}`],
      [/1 person is left out[^]*E-mail address from/, enter],
      [/Full name from/, enter],
      [/Employee id from/, enter],
      [/Only some of them/, enter],
      [/1 group has other groups as members/, enter],
      [/Where are the groups, and those within them/, enter],
      [/Are these the right people/, enter],
      [/Address of the access-management service/, `http://nobody.invalid${enter}`],
      [/is not encrypted[^]*Send it all the same/, enter],
      [/begins with https[^]*Address of the access/, `${clear}${service.baseUrl}${enter}`],
      [/Number of the organization/, `${FIXTURE.organizationId}${enter}`],
      [/Access token/, `wrong${enter}`],
      [/The token is not known[^]*Access token/, `${FIXTURE.token}${enter}`],
      [/Which directory[^]*None of these[^]*number 7, [a-z]+, \d+ users/, `${down}${enter}`],
      [/Members of groups/, enter],
      [/Name of this sync/, `staff${enter}`],
      [/When it runs/, enter],
      [/planned[^]*Write [^]*3 files beside it/, enter],
    ]
    for (const [question, keys] of answers) await terminal.answer(question, keys)
    expect(await terminal.ended).toBe(0)
    expect(terminal.shown()).toContain('dirsyncd plan staff')

    const at = (name: string) => join(dir.path, 'config', name)
    expect(await left()).toEqual([
      'config',
      'config/dirsyncd.yaml',
      'config/ldap-ca.pem',
      'config/secrets',
      'config/secrets/access-token',
      'config/secrets/ldap-password',
    ])
    const mode = async (name: string) => ((await stat(at(name))).mode & 0o777).toString(8)
    expect(await mode('secrets')).toBe('700')
    expect(await mode('secrets/access-token')).toBe('600')
    expect(await mode('secrets/ldap-password')).toBe('600')
    expect(await readFile(at('secrets/access-token'), 'utf8')).toBe(`${FIXTURE.token}\n`)
    expect(await readFile(at('dirsyncd.yaml'), 'utf8')).not.toContain(FIXTURE.token)
    const [{ source, directory }] = parse(await readFile(at('dirsyncd.yaml'), 'utf8')).syncs
    expect(directory.membership).toBe('report')
    expect(source.users).toMatchObject({
      base: `ou=people,${BASE}`,
      filter: '(&(objectClass=inetOrgPerson)(!(|(employeetype=robot)(uid=nobody))))',
    })
    const check = await runCommand(['check', '--no-samples', '--config', at('dirsyncd.yaml')])
    expect(check).toMatchObject({ code: 0, stderr: '' })
  })

  test('SIGQUIT during a trial leaves no test entry in the service', async () => {
    await using site = await startFindingOut()
    expect(await triedOut()).toHaveLength(2)
    site.program.kill('SIGQUIT')
    expect(await site.program.ended).toMatchObject({ code: 130 })
    expect(await triedOut()).toEqual([])
  })

  test('Ctrl-C at a question ends init quietly and leaves no file', async () => {
    await using terminal = openTerminal(['init', '--start-tls', '--url', slapd.namedUrl], dir.path)
    await terminal.answer(/Where are the users and groups now/, enter)
    await terminal.answer(/certificate of your server/, `y${enter}`)
    await terminal.answer(/How does dirsyncd log in/, `${down}${enter}`)
    await terminal.answer(/Where are the people/, ctrlC)
    expect(await terminal.ended).toBe(130)
    expect(await left()).toEqual([])
  })
}

/** What only `npm run test:long` runs. */
export function initLongTests(): void {
  describe('init without a terminal', () => {
    test('--json prints one object with the discovered settings and the written files', async () => {
      const options = [
        '--sync',
        'people',
        '--schedule',
        'never',
        '--no-groups',
        '--map-email',
        '= lower(mail)',
      ]
      const { code, stdout, stderr } = await init(
        ...ldapOptions(),
        ...apiOptions(),
        '--yes',
        '--json',
        ...options,
      )
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout.trim().split('\n')).toHaveLength(1)
      const { sync, plan, warnings, written: files } = JSON.parse(stdout)
      expect(sync).toMatchObject({ name: 'people', source: { users: { map: { email: '= lower(mail)' } } } })
      expect(plan.counts.sourceUsers).toBe(PEOPLE + 1)
      expect(warnings.join()).toContain('no e-mail')
      expect(warnings.join()).toMatch(
        /Nobody is left out, whatever [^;]* say; name a filter with --users-filter/,
      )
      expect(files).toEqual([join(dir.path, 'conf', 'ldap-ca.pem'), configFile()])
      expect((await written()).syncs).toEqual([sync])
    })

    test('init finds the format and the columns of CSV files', async () => {
      const people =
        'person_id;given_name;family_name;mail\n1;Ana;Šarić;ana@example.org\n2;Jürgen;Groß;j@example.com\n'
      await writeFile(file('users.csv'), people)
      await writeFile(file('groups.csv'), 'group_id,title\ng1,Sales\n')
      await writeFile(file('members.csv'), 'group_id,person_id\ng1,1\n')
      await writeFile(file('other.csv'), 'Kennung;Team\nk1;A\nk2;A\n')
      const other = ['--source', 'csv', '--csv-users', file('other.csv'), '--no-groups', ...apiOptions()]
      expect(await init(...other, '--yes')).toMatchObject({
        code: 64,
        stderr: expect.stringMatching(
          /^It is not certain which column of .* has the id: .*; name it with --map-id\.\n$/,
        ),
      })
      const files = ['users', 'groups', 'members'].flatMap((name) => [`--csv-${name}`, file(`${name}.csv`)])
      const emails = ['--allowed-domain', 'Example.org', '--membership', 'find-out']
      const { code, stdout, stderr } = await init(
        '--source',
        'csv',
        ...files,
        ...emails,
        ...apiOptions(),
        '--yes',
      )
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('Jürgen Groß')
      const [{ source, directory }] = (await written()).syncs
      expect(directory).toMatchObject({
        allowedDomains: ['Example.org'],
        dropBadEmails: true,
        membership: 'write',
      })
      expect(stdout).toContain('1 person has an e-mail that is of another domain; it is not written')
      expect(source).toEqual({
        type: 'csv',
        users: {
          path: file('users.csv'),
          delimiter: ';',
          map: { external_id: 'person_id', email: 'mail', name: '{given_name} {family_name}' },
        },
        groups: { path: file('groups.csv'), map: { external_id: 'group_id', name: 'title' } },
        members: { path: file('members.csv'), map: { group: 'group_id', user: 'person_id' } },
      })
    })

    test('init accepts a read-only token for the first plan, and warns that a sync needs more', async () => {
      const options = [...ldapOptions(), ...apiOptions(), '--token-env', 'READ_ONLY', '--no-groups']
      const { code, stdout } = await init(...options, '--yes')
      expect(stdout).toContain('The token needs the scope ORG for this endpoint.')
      expect(stdout).toContain('With this token plans can be made, but a sync will stop.')
      expect(stdout).toContain('planned ')
      expect(stdout).toContain('every sync stops at its first change')
      expect(code).toBe(0)
    })

    test.for<[string, () => readonly string[], RegExp]>([
      ['the kind of the source', () => [], /for the kind of the source; give it with --source\.\n$/],
      [
        'the choice of a proposal',
        () => [...ldapOptions(), ...apiOptions()],
        /for the place of the people; give it with --users-base, or take what is proposed with --yes\.\n$/,
      ],
      [
        'the CSV file of the users, with --json',
        () => ['--source', 'csv', '--json'],
        /^With --json nobody is asked for the file of users; give it with --csv-users\.\n$/,
      ],
      [
        'the file of a token that is given instead',
        () => [...ldapOptions(), ...apiOptions().slice(0, 6), '--token-file', SECRET],
        /^--token-file: it takes the place of the secret, not the secret itself, and there is no file of the name given\.\n$/,
      ],
    ])('without a terminal, init asks for %s in one sentence', async ([, args, sentence]) => {
      const { code, stderr } = await init(...args())
      expect(stderr).toMatch(sentence)
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(code).toBe(64)
      expect(await left()).toEqual([])
    })

    test.for<[string, () => Promise<readonly string[]> | readonly string[], number, RegExp]>([
      [
        'without trust in the certificate',
        () => ldapOptions().filter((word) => word !== '--trust' && word !== fingerprint),
        64,
        /give it with --trust ([0-9A-F]{2}:){31}[0-9A-F]{2}, or name the file of its CA with --ca/,
      ],
      [
        'with a wrong password',
        () => [...ldapOptions(), '--bind-password-env', 'WRONG'],
        1,
        /wrong password or unknown bind DN/,
      ],
      [
        'with a base that has no users',
        () => [...ldapOptions(), '--users-base', `ou=services,${BASE}`],
        1,
        /Nobody was found at and below ou=services/,
      ],
      [
        'while the API is down',
        async () => [...ldapOptions(), '--api-url', `http://127.0.0.1:${await freePort()}`],
        1,
        /connection refused/,
      ],
      [
        'with a directory that does not exist',
        () => [...ldapOptions(), '--directory', '99'],
        1,
        /it has 7 \(/,
      ],
    ])('init %s writes no file', async ([, args, exitCode, sentence]) => {
      const { code, stderr } = await init(...apiOptions(), ...(await args()), '--yes')
      expect(stderr).toMatch(sentence)
      expect(code).toBe(exitCode)
      expect(await left()).toEqual([])
    })
  })

  test('init asks again what the first plan shows to be wrong, and finds out whether members are written', async () => {
    const env = { LDAP_PASSWORD: slapd.readers.reader.password, TOKEN: FIXTURE.token }
    const args = ['init', ...ldapOptions(), ...apiOptions(), '--sync', 'staff', '--schedule', 'never']
    await using terminal = openTerminal(args, dir.path, env)
    const answers: readonly (readonly [RegExp, string])[] = [
      [/Where are the people/, enter],
      [/Who is left out/, enter],
      [/E-mail address from/, enter],
      [/Full name from/, enter],
      [/Employee id from/, enter],
      [/Only some of them/, enter],
      [/1 group has other groups as members/, enter],
      [/Where are the groups, and those within them/, enter],
      [/Are these the right people/, enter],
      [/Members of groups/, enter],
      [/planned[^]*Write [^]*a file beside it/, `n${enter}`],
      [/What should be asked again[^]*Only how they are mapped/, `${down}${down}${enter}`],
      [/E-mail address from/, enter],
      [/Full name from[^]*turned round[^]*leave it out/, `${down.repeat(5)}${enter}`],
      [/Such as mail, or \{givenName\}/, `first(sn)${enter}`],
      [/It must begin with =, as every expression: = first\(sn\)/, `${clear}"{sn}, {givenName}"${enter}`],
      [/Employee id from/, enter],
      [/Are these the right people/, enter],
      [/planned[^]*Write [^]*a file beside it/, `n${enter}`],
      [/What should be asked again[^]*Whether members/, `${down.repeat(7)}${enter}`],
      [/Members of groups[^]*write them[^]*Find out now/, `${down}${down}${enter}`],
      [/The service shows the member[^]*planned[^]*Write [^]*a file beside it/, enter],
    ]
    for (const [question, keys] of answers) await terminal.answer(question, keys)
    expect(await terminal.ended).toBe(0)
    expect(await triedOut()).toEqual([])
    const [{ source, directory }] = parse(
      await readFile(join(dir.path, 'config', 'dirsyncd.yaml'), 'utf8'),
    ).syncs
    expect(directory.membership).toBe('write')
    expect(source.users.map.name).toBe('{sn}, {givenName}')
  })

  test('init asks about e-mails that the service may refuse', async () => {
    const rows = [
      'u1,a@example.org',
      'u2,b@example.org',
      'u3,c@elsewhere.test',
      'u4,d@third.test',
      'u5,kein',
      'u6,',
    ]
    await writeFile(file('people.csv'), `id,mail\n${rows.join('\n')}\n`)
    const said = [
      '--source',
      'csv',
      '--csv-users',
      'people.csv',
      '--no-groups',
      '--map-id',
      'id',
      '--map-email',
    ]
    const args = [...said, 'mail', '--map-name', '', '--sync', 'hr', '--schedule', 'never', ...apiOptions()]
    await using terminal = openTerminal(['init', ...args], dir.path, { TOKEN: FIXTURE.token })
    const answers: readonly (readonly [RegExp, string])[] = [
      [/1 e-mail is no address, such as "kein"[^]*example.org \(2\)[^]*Are these the right people/, enter],
      [/E-mails are of 3 domains/, `${down}${enter}`],
      [/◉ example\.org {2}\(2 people\)/, `${down} ${enter}`],
      [/2 people have an e-mail that is no address or is of another domain\./, enter],
      [/planned +6 creations of users[^]*Write /, `n${enter}`],
      [/What should be asked again[^]*How the columns are mapped/, enter],
      [/The id, which never changes/, enter],
      [/E-mail address from/, enter],
      [/Are these the right people/, enter],
      [/planned +6 creations of users[^]*Write /, `n${enter}`],
      [/What should be asked again[^]*Which e-mails are written/, `${down.repeat(4)}${enter}`],
      [/E-mails are of 3 domains[^]*Find out now/, `${down}${enter}`],
      [
        /takes only example\.org[^]*3 people have an e-mail that is no address[^]*Nothing: they are left out, unless/,
        `${down}${enter}`,
      ],
      [/planned +3 creations of users[^]*Write /, enter],
    ]
    for (const [question, keys] of answers) await terminal.answer(question, keys)
    expect(await terminal.ended).toBe(0)
    const config = join(dir.path, 'config', 'dirsyncd.yaml')
    const [{ directory }] = parse(await readFile(config, 'utf8')).syncs
    expect(directory.allowedDomains).toEqual(['example.org'])
    expect(directory.dropBadEmails).toBeUndefined()
  })

  test('the next init finds the test entries of a killed one, and deletes them if the operator agrees', async () => {
    await using site = await startFindingOut()
    site.program.kill('SIGKILL')
    await site.program.ended
    const [id, ...others] = await triedOut()
    expect(others).toEqual([id])
    const said = `the group ${id} and the user ${id} were made by dirsyncd to find something out, and not deleted again`
    const { stdout } = await init(...site.options, '--yes', '--json')
    expect(JSON.parse(stdout).warnings.join()).toContain(`${said}; unless dirsyncd is at it just now, delete`)
    const checked = await runCommand(['check', '--no-samples', '--config', configFile()], { env: ENV })
    expect(checked.stdout.replaceAll(/\s+/g, ' ')).toContain(`warn left behind ${said}`)

    const args = ['init', ...site.options, '--map-name', '', '--membership', 'report', '--data-dir', 'other']
    await using terminal = openTerminal([...args, '--sync', 'hr', '--schedule', 'never'], dir.path, {
      TOKEN: FIXTURE.token,
    })
    const answers: readonly (readonly [RegExp, string])[] = [
      [/Id of a group from/, enter],
      [/Name of a group from/, enter],
      [/Id of the group from/, enter],
      [/Id of the user from/, enter],
      [/Are these the right people/, enter],
      [/left behind[^]*Delete them now/, enter],
      [/Deleted\.[^]*Write /, enter],
    ]
    for (const [question, keys] of answers) await terminal.answer(question, keys)
    expect(await terminal.ended).toBe(0)
    expect(await triedOut()).toEqual([])
  })

  test('init with --yes asks nothing at a terminal either, and ends at the first error', async () => {
    const args = ['init', ...ldapOptions(), ...apiOptions(), '--yes', '--users-filter', '(uid=nobody)']
    const env = { LDAP_PASSWORD: slapd.readers.reader.password, TOKEN: FIXTURE.token }
    await using terminal = openTerminal(args, dir.path, env)
    expect(await terminal.ended).toBe(1)
    expect(terminal.shown()).toContain('Nobody was found')
  })

  test('Ctrl-D at a question ends init', async () => {
    await using terminal = openTerminal(['init', '--source', 'ldap'], dir.path)
    await terminal.answer(/LDAP server/, KEYS.ctrlD)
    expect(await terminal.ended).toBe(130)
    expect(terminal.shown()).not.toContain('Warning')
  })
}
