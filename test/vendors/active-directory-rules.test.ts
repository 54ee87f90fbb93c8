import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isNotice, type Notice } from '../../src/core/notice.ts'
import { type LdapRecorder, type RecordedAttribute, startLdapRecorder } from '../support/ldap-recorder.ts'
import { smallCompany } from '../support/odd-company.ts'
import { activeDirectoryLdif, AD_PEOPLE } from '../support/odd-company-ldif.ts'
import { dumpLdif, openOddSync, type OddSync } from '../support/odd-sync.ts'
import { ldif } from '../support/people.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import { type Entry, parseLdif, type TruthRules, truthOf, valuesOf } from '../support/truth.ts'
import type { VendorServer } from '../support/vendor-server.ts'

/** A small domain, read as a whole: its own accounts and groups belong to it too. */
const stack = new AsyncDisposableStack()
let server: VendorServer
let recorder: LdapRecorder
let odd: OddSync

beforeAll(async () => {
  server = stack.use(await startSamba(activeDirectoryLdif(smallCompany(), SAMBA_BASE)))
  recorder = stack.use(await startLdapRecorder(server, { page: 100, range: 20 }))
  odd = stack.use(await openOddSync(sourceOf(), server.ca, server.reader.password))
})

afterAll(() => stack.disposeAsync())

const UNIT = `${AD_PEOPLE},${SAMBA_BASE}`

interface More {
  readonly source?: object
  readonly users?: object
  readonly groups?: object
}

function sourceOf({ source, users, groups }: More = {}): object {
  return {
    type: 'ldap',
    url: recorder.url,
    bind: { dn: server.reader.dn, password: { file: './password' } },
    users: { base: SAMBA_BASE, map: { email: 'mail', name: ['displayName', 'cn'] }, ...users },
    groups: { base: SAMBA_BASE, nested: 'flatten', map: { name: 'cn' }, ...groups },
    ...source,
  }
}

function isPerson(entry: Entry): boolean {
  const classes = valuesOf(entry, 'objectClass')
  return classes.includes('user') && !classes.includes('computer')
}

function isComputer(entry: Entry): boolean {
  return valuesOf(entry, 'objectClass').includes('computer')
}

function isDisabled(entry: Entry): boolean {
  return (Number(valuesOf(entry, 'userAccountControl')[0]) & 2) !== 0
}

const RULES: TruthRules = {
  isUser: isPerson,
  isGroup: (entry) => valuesOf(entry, 'objectClass').includes('group'),
  id: { attribute: 'objectGUID', form: 'guid' },
  name: ['displayName', 'cn'],
  groupName: 'cn',
  nested: 'flatten',
  allowedDomain: 'example.org',
  primaryGroup: true,
}

async function truth(more: Partial<TruthRules> = {}) {
  return truthOf(await dumpLdif(server, server.admin), { ...RULES, ...more })
}

interface Planned {
  readonly run: number
  readonly blocks: readonly { readonly code: string }[]
  readonly changes: readonly {
    readonly change: { op: string; id: string; why?: string }
    readonly state: string
    readonly reasons: readonly { readonly code: string }[]
  }[]
  readonly notices: readonly Notice[]
}

/** What a run with this source would do. */
async function plan(more: More = {}): Promise<Planned> {
  await odd.configure(sourceOf(more))
  const { lines, stderr } = await odd.site.json('plan', 'odd')
  expect(warningsIn(stderr)).toEqual([])
  return lines[0]
}

const EXPECTED = /a global catalog has only some/

/** But for those of catalogs. */
function warningsIn(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !EXPECTED.test(line))
}

async function sync(more: More = {}, expected = 0): Promise<Planned> {
  await odd.configure(sourceOf(more))
  const { code, lines, stderr } = await odd.site.json('sync', 'odd')
  expect([code, warningsIn(stderr)]).toEqual([expected, []])
  return lines[0]
}

/** The changes of users, each as `delete-user ID disabled`. */
function changesOf({ changes }: Planned): string[] {
  return changes
    .filter(({ change: { op } }) => op.endsWith('-user'))
    .map(({ change: { op, id, why } }) => [op, id, why].join(' ').trim())
}

/** The ids of the people for whom this holds, written as the server itself writes them. */
async function idsOf(isWanted: (entry: Entry) => boolean): Promise<string[]> {
  const found: string[] = []
  for (const entry of parseLdif(await extendedLdif())) {
    const [, id] = /^<GUID=([^>]*)>/.exec(valuesOf(entry, 'dn')[0] ?? '') ?? []
    if (id !== undefined && isPerson(entry) && isWanted(entry)) found.push(id)
  }
  return found.toSorted()
}

/** With `<GUID=…>` before each DN (LDAP_SERVER_EXTENDED_DN_OID, in the form of a text). */
async function extendedLdif(): Promise<string> {
  const login = ['-x', '-H', server.url, '-D', server.admin.dn, '-w', server.admin.password]
  const extended = ['-E', '!1.2.840.113556.1.4.529=::MAMCAQE=', '-E', 'pr=500/noprompt']
  const search = ['-LLL', '-o', 'ldif-wrap=no', '-b', SAMBA_BASE, '(objectClass=user)']
  const options = { maxBuffer: 2 ** 26 }
  return (await promisify(execFile)('ldapsearch', [...login, ...extended, ...search], options)).stdout
}

test('a whole domain equals the truth: no machines, no contacts, nobody who was deleted, and every kind of group', async () => {
  const leaver = `CN=Leaver,${UNIT}`
  await server.modify(
    ldif(leaver, { changetype: ['add'], objectClass: ['user'], sAMAccountName: ['leaver'] }) +
      ldif(leaver, { changetype: ['delete'] }),
  )
  const wanted = await truth()
  await sync()
  await odd.expectEqual(wanted)

  const names = new Set([...wanted.users.values()].map(({ name }) => name))
  const groups = new Map([...wanted.groups.values()].map(({ name, members }) => [name, members.length]))
  expect([...names]).toEqual(expect.arrayContaining(['Ines Inet', 'Administrator']))
  expect(['Managed', 'Standalone', 'PC40', 'Contact 42', 'Leaver'].filter((name) => names.has(name))).toEqual(
    [],
  )
  // Three people and one of another class; Domain Users is in Users.
  expect([groups.get('Global'), groups.get('Mailing list')]).toEqual([4, 4])
  // Everybody but the guest.
  expect([groups.get('Domain Users'), groups.get('Users')]).toEqual(Array(2).fill(wanted.users.size - 1))
})

test('ids are written as the server itself writes them', async () => {
  expect(await idsOf(() => true)).toEqual(expect.arrayContaining([...(await truth()).users.keys()]))
})

describe('the same truth comes from', () => {
  test('chains of groups that the server itself follows', async () => {
    // The ends and the middle of the chain, both circles, two ways to one group, and the primary group in a group.
    const names = ['g1', 'g15', 'g30', 'g31', 'g36', 'g37', 'g46', 'Local', 'Users', 'Domain Users']
    const isChosen = (entry: Entry) => names.includes(valuesOf(entry, 'sAMAccountName')[0] ?? '')
    const chosen = (await truth({ isGroup: isChosen })).groups
    expect(chosen.size).toBe(names.length)
    const filter = `(|${names.map((name) => `(sAMAccountName=${name})`).join('')})`
    recorder.clear()
    const { changes } = await plan({ groups: { nested: 'in-chain', filter } })
    // Those that the filter leaves out go, and these stay as they are.
    expect(changes.filter(({ change }) => chosen.has(change.id))).toEqual([])
    expect(changes.every(({ change }) => change.op === 'delete-group')).toBe(true)
    expect(recorder.searches.some(({ attributes }) => attributes.includes('member'))).toBe(false)
  })

  test('several bases, one in the other, and members that no sync can have are named', async () => {
    const base = [UNIT, SAMBA_BASE, `OU=Groups,${UNIT}`]
    const { changes, notices } = await plan({ users: { base }, groups: { base } })
    expect(changes).toEqual([])
    expect(notices.filter(({ code }) => code === 'duplicate-id')).toEqual([])
    const strangers = notices
      .filter((notice) => isNotice(notice, 'unknown-members'))
      .map(({ params }) => `${params.from}: ${params.examples.join(' ')}`)
    expect(strangers.filter((members) => members.includes('CN=S-1-5-21-1111111111-'))).not.toEqual([])
    expect(strangers.filter((members) => /CN=Global,.*CN=Managed/.test(members))).toHaveLength(1)
  })

  test('the global catalog of the only domain', async () => {
    const source = { url: `ldaps://${server.host}:3269`, tls: { ca: './ca.pem' } }
    await odd.configure(sourceOf({ source }))
    const { code, stderr } = await odd.site.run('plan', 'odd')
    expect([code, stderr]).toEqual([0, expect.stringContaining('a global catalog has only some attributes')])
  })
})

test('check says that disabled accounts are kept, and that a filter lets computers in', async () => {
  await odd.configure(sourceOf({ users: { filter: '(objectClass=user)' } }))
  const { stdout } = await odd.site.run('check')
  const disabled = (await idsOf(isDisabled)).length
  expect(disabled).toBeGreaterThan(1)
  const computers = parseLdif(await dumpLdif(server, server.admin)).filter(isComputer).length
  expect(stdout).toMatch(/disabled +\d+ users cannot log in and are kept like everybody else/)
  expect(stdout).toContain(`the filter lets ${computers} computers in; (objectCategory=person)`)
  await odd.configure(sourceOf({ users: { disabled: 'skip' } }))
  const { stdout: other } = await odd.site.run('check')
  expect(other).not.toMatch(/kept like everybody else|computers in/)
  await odd.configure(sourceOf())
  expect((await odd.site.run('check')).stdout).toContain(`${disabled} users cannot log in and are kept`)
})

test('the global catalog is not asked for what the schema keeps out of it', async () => {
  const map = { email: 'mail', name: 'cn', employee_id: 'employeeNumber' }
  await odd.configure(sourceOf({ source: { url: `ldap://${server.host}:3268` }, users: { map } }))
  const { code, stderr } = await odd.site.run('plan', 'odd')
  expect([code, stderr]).toEqual([1, expect.stringContaining(':3268 does not have employeeNumber')])
})

test('the global catalog of another domain shows no members of its groups, and they stay as they are', async () => {
  await using catalog = await startLdapRecorder(server, undefined, {
    listen: { host: server.host.replace(/\d+$/, '254'), port: 3268 },
    shown: asOtherDomain,
  })
  const { changes, notices } = await plan({ source: { url: catalog.url } })
  expect(changes).toEqual([])
  const hidden = notices.filter((notice) => isNotice(notice, 'members-hidden'))
  const places = hidden.map(({ params }) => params.from)
  const local = parseLdif(await dumpLdif(server, server.admin)).filter(
    (entry) => RULES.isGroup(entry) && (Number(valuesOf(entry, 'groupType')[0]) & 8) === 0,
  )
  // A universal group that holds one of them goes with them.
  const list = `CN=Mailing list,OU=Groups,${UNIT}`
  expect(places.toSorted()).toEqual([...local.flatMap((entry) => valuesOf(entry, 'dn')), list].toSorted())
  expect(local.length).toBeGreaterThan(20)
})

test('members tell the truth of direct membership, and a person is asked about groups that it empties', async () => {
  const { run, blocks } = await sync({ groups: { nested: 'direct', membersFrom: 'memberOf' } }, 3)
  // The guard of a changed configuration counts only what the other check leaves.
  expect(new Set(blocks.map(({ code }) => code))).toEqual(new Set(['group-emptied']))
  const approved = await odd.site.json('approve', String(run), '--all')
  expect(approved.code).toBe(0)
  await odd.expectEqual(await truth({ nested: 'direct' }))
})

test('who is disabled stays, is left as it is, or goes, and waits for a day or a person when enabled again', async () => {
  const [newcomer, colleague] = [`CN=Newcomer,${UNIT}`, `CN=Ines Inet,${UNIT}`]
  const isNew = (entry: Entry) => valuesOf(entry, 'dn')[0]?.endsWith(newcomer) === true
  const isInes = (entry: Entry) => valuesOf(entry, 'dn')[0]?.endsWith(colleague) === true
  await server.modify(
    ldif(newcomer, { changetype: ['add'], objectClass: ['user'], userAccountControl: ['546'] }) +
      switched(colleague, '546'),
  )
  const groups = { nested: 'direct' }
  const [[fresh], [ines]] = [await idsOf(isNew), await idsOf(isInes)]
  const locked = await idsOf((entry) => isDisabled(entry) && !isNew(entry))
  expect([locked.length > 3, locked.includes(ines ?? '')]).toEqual([true, true])

  expect(changesOf(await plan({ groups, users: { disabled: 'keep' } }))).toEqual([`create-user ${fresh}`])
  expect((await plan({ groups, users: { disabled: 'skip' } })).changes).toEqual([])
  const [before, after] = [await truth(), await truth({ nested: 'direct', isUser: isActive })]
  // Who shared the e-mail of somebody who goes may own it now; whether that is so hangs on the ids of this domain.
  const heirs = [...after.users].filter(([id, { email }]) => before.users.get(id)?.email !== email)
  const gone = changesOf(await sync({ groups, users: { disabled: 'delete' } }))
  expect(gone.toSorted()).toEqual(
    [
      ...locked.map((id) => `delete-user ${id} disabled`),
      ...heirs.map(([id]) => `update-user ${id}`),
    ].toSorted(),
  )
  await odd.expectEqual(after)

  await server.modify(switched(colleague, '544'))
  const back = await plan({ groups, users: { disabled: 'delete' } })
  expect(back.changes.map(({ change, state, reasons }) => [change.id, state, reasons[0]?.code])).toEqual([
    [ines, 'blocked', 'recently-deleted'],
  ])
})

function isActive(entry: Entry): boolean {
  return isPerson(entry) && !isDisabled(entry)
}

function switched(dn: string, userAccountControl: string): string {
  return ldif(dn, {
    changetype: ['modify'],
    replace: ['userAccountControl'],
    userAccountControl: [userAccountControl],
  })
}

const NOT_REPLICATED = new Set(['employeenumber'])

/** What a Windows server of another domain shows at its port 3268. */
function asOtherDomain(dn: string, attributes: readonly RecordedAttribute[]): readonly RecordedAttribute[] {
  const isUniversal = attributes.some(
    ({ name, values }) => name.toLowerCase() === 'grouptype' && (Number(values[0]) & 8) !== 0,
  )
  return attributes.flatMap(({ name, values }) => {
    const lower = name.toLowerCase()
    if (dn === '' && lower === 'defaultnamingcontext')
      return [{ name, values: [Buffer.from('DC=other,DC=test')] }]
    return NOT_REPLICATED.has(lower) || (lower === 'member' && !isUniversal) ? [] : [{ name, values }]
  })
}
