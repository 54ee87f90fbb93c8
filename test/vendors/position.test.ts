import { expect, test } from 'vitest'
import type { ServerEvidence } from '../../src/core/entries/position.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { judgeServer } from '../../src/core/plan/server.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { Source } from '../../src/source/source.ts'
import { DS389_BASE, startDs389 } from '../support/ds389.ts'
import { ldif } from '../support/people.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import type { VendorServer } from '../support/vendor-server.ts'

/** What an ordinary reader of Samba and 389-ds is shown of which server it is, and how new. */
const NEVER = new AbortController().signal

function source({ url, base, reader }: VendorServer, bind = reader): Source {
  const options = {
    url,
    tls: { startTls: false },
    bind: { dn: bind.dn, password: async () => bind.password },
    pageSize: 500,
    timeouts: { connectMs: 5000, answerMs: 10_000 },
    users: { base, scope: 'sub', map: { email: 'mail' } },
  } as const
  return createLdapSource(options, silentLog())
}

async function serverOf(server: VendorServer): Promise<ServerEvidence> {
  const { server: evidence } = await source(server).read(NEVER)
  if (evidence === undefined) throw new Error('a read without evidence')
  return evidence
}

/** What the judgement makes of a read of `seen` when `known` was the last good one. */
function scopeOf(known: ServerEvidence, seen: ServerEvidence): string {
  const circumstances = {
    now: new Date(),
    confirmAfterMs: 3_600_000,
    hidesServers: false,
    isAccepted: () => false,
  }
  return judgeServer(judgeServer(undefined, known, circumstances).next, seen, circumstances).scope
}

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const CONTEXT = SAMBA_BASE.toLowerCase()

const unit = (name: string) =>
  ldif(`OU=${name},${SAMBA_BASE}`, { changetype: ['add'], objectClass: ['organizationalUnit'], ou: [name] })

test('Active Directory: two controllers, of which one lags and catches up', async () => {
  await using first = await startSamba('')
  const alone = await serverOf(first)
  expect(alone).toMatchObject({ url: `${first.url}:389`, address: first.host, addresses: 1 })
  expect(alone.database).toMatch(new RegExp(`^${CONTEXT} ${GUID}$`))
  expect(alone.hints['dsServiceName']).toMatch(/^CN=NTDS Settings,CN=DC1,/)
  const [[key, usn] = []] = Object.entries(alone.position ?? {})
  expect(key).toMatch(new RegExp(`^${CONTEXT} ${GUID}$`))
  expect(usn).toMatch(/^\d+$/)

  await first.modify(unit('one'))
  const changed = await serverOf(first)
  expect([scopeOf(alone, changed), scopeOf(changed, alone)]).toEqual(['everything', 'nothing'])

  await using second = await first.join()
  const joined = await serverOf(second)
  expect(joined.database).toBe(alone.database)
  expect(Object.keys(joined.position ?? {})).toHaveLength(2)
  expect(scopeOf(changed, joined)).toBe('everything')

  // Until the first one has taken over something, it has no vector, as where the reader may not see it.
  expect((await serverOf(first)).position).toBeUndefined()
  await first.replicateFrom(second)
  await first.modify(unit('two'))
  const ahead = await serverOf(first)
  expect(Object.keys(ahead.position ?? {}).toSorted()).toEqual(Object.keys(joined.position ?? {}).toSorted())
  expect(scopeOf(joined, ahead)).toBe('everything')
  expect(['nothing', 'additions']).toContain(scopeOf(ahead, await serverOf(second)))

  await second.replicateFrom(first)
  expect(scopeOf(ahead, await serverOf(second))).toBe('everything')
  const lines = await source(first).probe(NEVER)
  expect(lines.find(({ label }) => label === 'position')).toMatchObject({
    level: 'ok',
    detail: expect.stringMatching(
      /^the changes of 2 origins, such as dc=example,dc=test [-0-9a-f]{36} at \d+;/,
    ),
  })
})

const REPLICA = ldif(`cn=replica,cn="${DS389_BASE}",cn=mapping tree,cn=config`, {
  changetype: ['add'],
  objectClass: ['nsDS5Replica', 'extensibleObject'],
  cn: ['replica'],
  nsDS5ReplicaRoot: [DS389_BASE],
  nsDS5ReplicaId: ['7'],
  nsDS5ReplicaType: ['3'],
  nsDS5Flags: ['1'],
  nsDS5ReplicaBindDN: ['cn=replication manager,cn=config'],
})

const person = (uid: string) =>
  ldif(`uid=${uid},ou=people,${DS389_BASE}`, {
    changetype: ['add'],
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    cn: [uid],
    sn: [uid],
  })

test('389-ds: hints for everybody, the position for whom an administrator lets see it', async () => {
  await using server = await startDs389('')
  const plain = await serverOf(server)
  expect([plain.database, plain.position]).toEqual([undefined, undefined])
  expect(plain.hints).toEqual({
    netscapemdsuffix: expect.stringContaining('localhost'),
    dataversion: expect.stringMatching(/^\d+$/),
    'lastusn;userroot': expect.stringMatching(/^-?\d+$/),
  })
  const lines = await source(server).probe(NEVER)
  expect(lines.find(({ label }) => label === 'position')).toMatchObject({
    level: 'info',
    detail: expect.stringMatching(/only netscapemdsuffix, .*nsds50ruv below "cn=mapping tree,cn=config"/),
  })
  await server.modify(REPLICA)
  await server.modify(person('one'))
  const counted = await serverOf(server)
  expect(counted.position).toBeUndefined()
  const [first, last] = [plain, counted].map(({ hints }) => Number(hints['lastusn;userroot']))
  expect(last).toBeGreaterThan(first ?? Number.NaN)
  expect([scopeOf(plain, counted), scopeOf(counted, plain)]).toEqual(['everything', 'confirmed-deletes'])

  const rule = `(targetattr = "nsDS5ReplicaRoot || nsds50ruv || objectClass")(version 3.0; acl "position"; allow (read, search) userdn = "ldap:///${server.reader.dn}";)`
  await server.modify(`dn: cn=mapping tree,cn=config\nchangetype: modify\nadd: aci\naci: ${rule}\n`)
  const before = await serverOf(server)
  expect(before.database).toMatch(/^dc=example,dc=org [0-9a-f]{20}$/)
  expect(before.position).toEqual({ [`${DS389_BASE} 7`]: expect.stringMatching(/^[0-9a-f]{20}$/) })
  await server.modify(person('two'))
  const after = await serverOf(server)
  expect([scopeOf(before, after), scopeOf(after, before)]).toEqual(['everything', 'nothing'])
})
