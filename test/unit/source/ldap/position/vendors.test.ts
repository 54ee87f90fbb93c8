import { describe, expect, test } from 'vitest'
import { lookupIn } from '../../../../../src/source/ldap/entry.ts'
import { readActiveDirectory } from '../../../../../src/source/ldap/position/active-directory.ts'
import type { Ask } from '../../../../../src/source/ldap/position/ask.ts'
import { readDs389 } from '../../../../../src/source/ldap/position/ds389.ts'
import { readOpenLdap } from '../../../../../src/source/ldap/position/openldap.ts'
import { type Attributes, ldapEntry } from '../../../../support/ldap-entry.ts'

/** A server that shows these entries, whatever attributes it is asked for. */
function showing(entries: Readonly<Record<string, Attributes>>): Ask {
  const all = Object.entries(entries).map(([dn, attributes]) => ldapEntry(dn, attributes))
  const entry = async (wanted: string) => all.find(({ dn }) => dn === wanted)
  return {
    entry,
    async values(dn) {
      const found = await entry(dn)
      return found === undefined ? () => [] : lookupIn(found)
    },
    below: async (base) => all.filter(({ dn }) => dn.endsWith(base)),
  }
}

const ORG = 'dc=example,dc=org'
const SUB = 'ou=sub,dc=example,dc=org'

const csn = (server: string) => `20261122113906.123456Z#000000#${server}#000000`

describe('OpenLDAP', () => {
  test('has one value for each server id, in each of the naming contexts', async () => {
    const ask = showing({
      [ORG]: { entryUUID: ['u1'], contextCSN: [csn('001'), csn('002')] },
      [SUB]: { entryUUID: ['u2'], contextCSN: [csn('000')] },
    })
    expect(await readOpenLdap(ask, [ORG, SUB])).toEqual({
      database: `${ORG} u1; ${SUB} u2`,
      position: { [`${ORG} 001`]: csn('001'), [`${ORG} 002`]: csn('002'), [`${SUB} 000`]: csn('000') },
      hints: {},
    })
    expect((await readOpenLdap(ask, [ORG])).database).toBe(`${ORG} u1`)
  })

  test.each<[string, Record<string, Attributes>]>([
    ['one context does not show it', { [ORG]: { contextCSN: [csn('001')] }, [SUB]: { entryUUID: ['u'] } }],
    [
      'one value is something else',
      { [ORG]: { contextCSN: [csn('001'), 'x'] }, [SUB]: { contextCSN: [csn('001')] } },
    ],
  ])('has none when %s', async (_, entries) => {
    expect(await readOpenLdap(showing(entries), [ORG, SUB])).toMatchObject({
      position: undefined,
      database: undefined,
    })
  })

  test('without a naming context there is nothing', async () => {
    expect(await readOpenLdap(showing({}), [])).toEqual({
      database: undefined,
      position: undefined,
      hints: {},
    })
  })
})

const guid = (last: number) => Buffer.from(`${'0'.repeat(30)}${last.toString(16).padStart(2, '0')}`, 'hex')
const text = (last: number) => `00000000-0000-0000-0000-${last.toString(16).padStart(12, '0')}`

describe('Active Directory', () => {
  const SETTINGS = 'CN=NTDS Settings,CN=DC1'
  const root = { dsServiceName: [SETTINGS], highestCommittedUSN: ['3939'] }
  const hints = { dsServiceName: SETTINGS, highestCommittedUSN: '3939' }
  const own = { invocationId: [guid(1)] }
  const alone = { objectGUID: [guid(9)], 'msDS-masteredBy': [SETTINGS] }
  const vector = Buffer.alloc(16 + 32)
  vector[0] = 2
  vector[8] = 1
  guid(2).copy(vector, 16)
  vector.writeBigUInt64LE(77n, 32)

  test('a single controller has its own changes', async () => {
    expect(await readActiveDirectory(showing({ '': root, [SETTINGS]: own, [ORG]: alone }), [ORG])).toEqual({
      database: `${ORG} ${text(9)}`,
      position: { [`${ORG} ${text(1)}`]: '3939' },
      hints,
    })
  })

  test('one of several has those of the others as its vector says', async () => {
    const head = { ...alone, replUpToDateVector: [vector] }
    const ask = showing({ '': root, [SETTINGS]: own, [ORG]: head })
    expect((await readActiveDirectory(ask, [ORG])).position).toEqual({
      [`${ORG} ${text(1)}`]: '3939',
      [`${ORG} ${text(2)}`]: '77',
    })
  })

  test.each<[string, Record<string, Attributes>]>([
    ['its invocation id is not shown', { '': root, [ORG]: alone }],
    ['its invocation id is none', { '': root, [SETTINGS]: { invocationId: ['x'] }, [ORG]: alone }],
    [
      'its own change number is not shown',
      { '': { dsServiceName: [SETTINGS] }, [SETTINGS]: own, [ORG]: alone },
    ],
    ['the vector is broken', { '': root, [SETTINGS]: own, [ORG]: { ...alone, replUpToDateVector: ['x'] } }],
    [
      'the vector is hidden, as other controllers show',
      {
        '': root,
        [SETTINGS]: own,
        [ORG]: { ...alone, 'msDS-masteredBy': [SETTINGS, 'CN=NTDS Settings,CN=DC2'] },
      },
    ],
    ['the head hides who else there is', { '': root, [SETTINGS]: own, [ORG]: { objectGUID: [guid(9)] } }],
    ['the head is not shown', { '': root, [SETTINGS]: own }],
  ])('has no position where %s', async (_, entries) => {
    const state = await readActiveDirectory(showing(entries), [ORG])
    expect(state.position).toBeUndefined()
    expect(state.hints).toMatchObject({ dsServiceName: SETTINGS })
  })
})

const newest = (id: number) => `6921a0f50001000${id}0000`

describe('389-ds', () => {
  const root = {
    netscapemdsuffix: ['cn=ldap://dc=localhost:389'],
    dataversion: ['020261122113909'],
    'lastusn;userroot': ['18446744073709551615'],
    'lastusn;other': ['12'],
  }
  const REPLICA = 'cn=replica,cn=x,cn=mapping tree,cn=config'
  const ruv = [
    '{replicageneration} 6921a0e1000000010000',
    `{replica 1 ldap://a:389} 6921a0e1000000010000 ${newest(1)}`,
    `{replica 2 ldap://b:389} 6921a0e1000000020000 ${newest(2).toUpperCase()}`,
    '{replica 3 ldap://c:389}',
  ]

  test('an ordinary reader sees hints; a backend without changes has -1', async () => {
    expect(await readDs389(showing({ '': root }), [ORG])).toEqual({
      database: undefined,
      position: undefined,
      hints: {
        netscapemdsuffix: 'cn=ldap://dc=localhost:389',
        dataversion: '020261122113909',
        'lastusn;userroot': '-1',
        'lastusn;other': '12',
      },
    })
  })

  test('a reader of cn=config sees the newest change of each replica', async () => {
    const replica = { nsDS5ReplicaRoot: ['DC=example, dc=org'], nsds50ruv: ruv }
    expect(await readDs389(showing({ [REPLICA]: replica }), [ORG])).toEqual({
      database: `${ORG} 6921a0e1000000010000`,
      position: { [`${ORG} 1`]: newest(1), [`${ORG} 2`]: newest(2) },
      hints: {},
    })
  })

  test.each<[string, Attributes]>([
    ['a replica of another suffix', { nsDS5ReplicaRoot: [SUB], nsds50ruv: ruv }],
    ['one without its generation', { nsDS5ReplicaRoot: [ORG], nsds50ruv: ruv.slice(1) }],
    ['one without a vector', { nsDS5ReplicaRoot: [ORG] }],
  ])('%s says nothing', async (_, replica) => {
    const { database, position } = await readDs389(showing({ [REPLICA]: replica }), [ORG])
    expect([database, position]).toEqual([undefined, undefined])
  })
})
