import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LossLook } from '../../src/core/entries/recheck.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { Source } from '../../src/source/source.ts'
import { recheckLosses } from '../../src/sync/recheck-losses.ts'
import { type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { ldif } from '../support/people.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import type { VendorServer } from '../support/vendor-server.ts'

/** Active Directory writes the new DN into groups when somebody is renamed, and `memberOf` into the members. */
const stack = new AsyncDisposableStack()
let server: VendorServer
let proxy: LdapProxy

const NEVER = new AbortController().signal
const UNIT = `OU=Losses,${SAMBA_BASE}`
const PEOPLE = ['ann', 'bob', 'cid', 'dan', 'eve']
const BEFORE_GROUPS = 2

const dnOf = (name: string) => `CN=${name},${UNIT}`

/** The attribute `member` may be read by nobody but the administrators. */
const SHUT = [
  'D:(OD;;RP;bf9679c0-0de6-11d0-a285-00aa003049e2;;AU)',
  '(A;;RPWPCRCCDCLCLORCWOWDSDDTSW;;;DA)(A;;RPWPCRCCDCLCLORCWOWDSDDTSW;;;SY)(A;;RPLCLORC;;;AU)',
].join('')

function group(
  name: string,
  members: readonly string[],
  more: Readonly<Record<string, string[]>> = {},
): string {
  return ldif(dnOf(name), {
    objectClass: ['group'],
    sAMAccountName: [name],
    ...(members.length > 0 && { member: members.map(dnOf) }),
    ...more,
  })
}

function records(): string {
  return [
    ldif(UNIT, { objectClass: ['organizationalUnit'] }),
    ...PEOPLE.map((name) =>
      ldif(dnOf(name), { objectClass: ['user'], sAMAccountName: [name], userAccountControl: ['544'] }),
    ),
    group('team', ['ann', 'bob']),
    group('inner', ['cid']),
    group('outer', ['inner', 'dan']),
    group('shut', ['bob', 'cid'], { nTSecurityDescriptor: [SHUT] }),
    group('left', []),
  ].join('')
}

beforeAll(async () => {
  server = stack.use(await startSamba(records()))
  proxy = stack.use(await startLdapProxy(server.port, server.host))
}, 300_000)

afterAll(() => stack.disposeAsync())

function source(nested: 'direct' | 'flatten' | 'in-chain'): Source {
  const { dn, password } = server.reader
  const place = { base: UNIT, scope: 'sub', map: { name: 'cn' } } as const
  return createLdapSource(
    {
      url: proxy.url,
      tls: { startTls: false },
      bind: { dn, password: async () => password },
      pageSize: 1000,
      timeouts: { connectMs: 5000, answerMs: 30_000 },
      users: place,
      groups: { ...place, nested },
    },
    silentLog(),
  )
}

function rename(from: string, to: string): string {
  return ldif(dnOf(from), { changetype: ['modrdn'], newrdn: [`CN=${to}`], deleteoldrdn: ['1'] })
}

/** Reads while somebody changes the server between users and groups. */
async function readWhile(of: Source, changes: string): Promise<SourceSnapshot> {
  proxy.setFault({ kind: 'call', page: BEFORE_GROUPS, call: () => server.modify(changes) })
  const snapshot = await of.read(NEVER)
  proxy.setFault({ kind: 'none' })
  return snapshot
}

function idOf({ users, groups }: SourceSnapshot, name: string): string {
  return [...users.values(), ...groups.values()].find((entry) => entry.name === name)?.id ?? ''
}

function membersOf(snapshot: SourceSnapshot, name: string): readonly string[] {
  const ids = snapshot.groups.get(idOf(snapshot, name))?.members ?? []
  return ids.map((id) => snapshot.users.get(id)?.name ?? '').toSorted()
}

async function look(
  of: Source,
  snapshot: SourceSnapshot,
  name: string,
  names: readonly string[],
): Promise<LossLook | undefined> {
  const [id, lost] = [idOf(snapshot, name), names.map((each) => idOf(snapshot, each))]
  return (await recheckLosses(of, snapshot, new Map([[id, lost]]), NEVER)).get(id)
}

test('Active Directory: who is renamed while a run reads is still a member', async () => {
  const of = source('direct')
  const snapshot = await readWhile(of, rename('ann', 'anna'))
  expect(membersOf(snapshot, 'team')).toEqual(['bob'])
  expect(await look(of, snapshot, 'team', ['ann', 'eve'])).toEqual({ stillMembers: [idOf(snapshot, 'ann')] })
})

test.each(['flatten', 'in-chain'] as const)(
  'Active Directory: a nested group that is renamed after the read still counts: %s',
  async (nested) => {
    const of = source(nested)
    const snapshot = await of.read(NEVER)
    expect(membersOf(snapshot, 'outer')).toEqual(['cid', 'dan'])
    const [from, to] = nested === 'flatten' ? ['inner', 'within'] : ['within', 'inner']
    await server.modify(rename(from, to))
    const stillMembers = [idOf(snapshot, 'cid')]
    expect(await look(of, snapshot, 'outer', ['cid', 'eve'])).toEqual({ stillMembers })
  },
)

test('Active Directory: a group whose list is hidden is not empty, because its members name it', async () => {
  const of = source('direct')
  const snapshot = await of.read(NEVER)
  expect(membersOf(snapshot, 'shut')).toEqual([])
  expect(await look(of, snapshot, 'shut', ['bob', 'eve'])).toEqual({
    stillMembers: [],
    unproved: {
      code: 'member-of',
      params: { group: dnOf('shut'), list: dnOf('shut'), attributes: [], users: 1 },
    },
  })
})

test('Active Directory: a group that all members left is proved to be empty', async () => {
  const of = source('direct')
  const snapshot = await of.read(NEVER)
  expect(await look(of, snapshot, 'left', ['eve'])).toEqual({ stillMembers: [], provedEmpty: true })
})
