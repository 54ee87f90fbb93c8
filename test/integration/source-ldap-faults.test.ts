import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { Source } from '../../src/source/source.ts'
import { type LdapFault, type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { person } from '../support/people.ts'
import { useTimeOfSilence } from '../support/silence.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'

const passTime = useTimeOfSilence()
const PEOPLE = 250
const NEVER = new AbortController().signal

let slapd: Slapd
let proxy: LdapProxy

beforeAll(async () => {
  slapd = await startSlapd({ people: PEOPLE, groups: 10 })
  proxy = await startLdapProxy(slapd.port)
  proxy.onSilence = passTime
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await slapd.close()
})

/** Three pages of users, the last of them half full, and one of groups. */
function source(fault: LdapFault, startTls = false): Source {
  proxy.setFault(fault)
  const { dn, password } = slapd.readers.reader
  return createLdapSource(
    {
      url: proxy.url,
      tls: { startTls },
      bind: { dn, password: async () => password },
      pageSize: 100,
      timeouts: { connectMs: 60_000, answerMs: 60_000 },
      users: {
        base: `ou=people,${BASE}`,
        scope: 'sub',
        filter: '(objectClass=inetOrgPerson)',
        map: { external_id: 'entryUUID', email: 'mail' },
      },
      groups: {
        base: `ou=groups,${BASE}`,
        scope: 'sub',
        filter: '(objectClass=groupOfNames)',
        map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
      },
    },
    silentLog(),
  )
}

test('a proxy that does nothing changes nothing', async () => {
  const snapshot = await source({ kind: 'none' }).read(NEVER)
  expect([snapshot.users.size, snapshot.groups.size, snapshot.notices.length]).toEqual([PEOPLE, 10, 0])
})

test.each<[string, LdapFault, string]>([
  ['cuts a message in the first page', { kind: 'cut', page: 1, entry: 5 }, 'the connection was lost'],
  ['cuts a message in the last page', { kind: 'cut', page: 3, entry: 40 }, 'the connection was lost'],
  ['cuts a message in the page of groups', { kind: 'cut', page: 4, entry: 2 }, 'the connection was lost'],
  ['hangs up between two entries', { kind: 'hang-up', page: 2, entry: 5 }, 'the connection was lost'],
  ['goes silent in the middle of a page', { kind: 'stall', page: 2, entry: 50 }, 'nothing arrived for 60 s'],
  ['is busy', { kind: 'result', page: 2, code: 51 }, 'busy: the server has too much to do (result 51)'],
  ['reaches its time limit', { kind: 'result', page: 3, code: 3 }, 'timeLimitExceeded'],
  [
    'reaches its size limit',
    { kind: 'result', page: 3, code: 4 },
    '(result 4); have this limit raised for the bind user',
  ],
  ['reaches its administrative limit', { kind: 'result', page: 2, code: 11 }, 'adminLimitExceeded'],
  ['takes a right away', { kind: 'result', page: 2, code: 50 }, 'insufficientAccessRights'],
  [
    'refers to another server',
    { kind: 'result', page: 1, code: 10 },
    'referral: the entries are on another server',
  ],
  [
    'ends with a result that nobody knows',
    { kind: 'result', page: 1, code: 4242 },
    'an unknown result (result 4242)',
  ],
  ['ends with a cookie that it does not know', { kind: 'left-over-cookie', after: 'forward' }, 'result'],
  [
    'ends with a cookie and hangs up',
    { kind: 'left-over-cookie', after: 'hang-up' },
    'the connection was lost',
  ],
  [
    'stops paging after the first page',
    { kind: 'no-control', page: 1 },
    'did not say whether there are more',
  ],
  ['stops paging after the second page', { kind: 'no-control', page: 2 }, 'stopped paging in the middle'],
  [
    'begins again with the first page',
    { kind: 'restart', page: 2 },
    'begins with an entry that was already read',
  ],
  ['sends empty pages without end', { kind: 'empty-pages' }, 'empty pages and never an end'],
  ['announces that it goes down', { kind: 'notice', page: 2 }, '"going down for maintenance"'],
])('a server that %s gives an error and never a snapshot', async (_, fault, words) => {
  const [connections, binds] = [proxy.connections, proxy.binds]
  const reading = source(fault).read(NEVER)
  await expect(reading).rejects.toMatchObject({ name: 'DirsyncdError', code: 'source-incomplete' })
  await expect(reading).rejects.toThrow(words)
  expect([proxy.connections, proxy.binds]).toEqual([connections + 1, binds + 1])
})

test.each([1, 2, 3])('an empty page with a cookie in place of page %i is read on', async (page) => {
  const snapshot = await source({ kind: 'empty-page', page }).read(NEVER)
  expect([snapshot.users.size, snapshot.groups.size]).toEqual([PEOPLE, 10])
})

test('a base that vanishes in the middle is named', async () => {
  const reading = source({ kind: 'result', page: 2, code: 32 }).read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
})

test('a server that goes silent at the TLS handshake is given up on', async () => {
  const reading = source({ kind: 'stall-tls' }, true).read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-unreachable' })
  await expect(reading).rejects.toThrow('no answer within 60 s')
})

test.each<LdapFault>([
  { kind: 'cut', page: 2, entry: 1 },
  { kind: 'stall', page: 3, entry: 1 },
  { kind: 'result', page: 2, code: 51 },
  { kind: 'result', page: 3, code: 3 },
])('a second look that meets $kind says "gone" of nobody', async (fault) => {
  const looking = source(fault).readIds('user', ['x', person(1, BASE).entryUuid], NEVER)
  await expect(looking).rejects.toMatchObject({ code: 'source-incomplete' })
})
