import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { GROUPS, oddCompany } from '../support/odd-company.ts'
import { openldapLdif } from '../support/odd-company-ldif.ts'
import { dumpLdif } from '../support/odd-sync.ts'
import { BASE, peopleSections, type Slapd, startSlapd } from '../support/slapd.ts'
import { truthOf, type TruthRules, valuesOf } from '../support/truth.ts'

/** A slapd that writes `memberOf` into the entry of every member, about a company with odd names. */
let slapd: Slapd
let ldif: string

beforeAll(async () => {
  const records = openldapLdif(oddCompany(), BASE).split(/\n\n+(?=dn)/)
  slapd = await startSlapd({
    ldifs: records.filter((record) => !isGroup(record)),
    overlays: ['memberof'],
    tls: false,
  })
  // The overlay writes only into entries that are there: first all groups, then who is in them.
  const groups = records.filter(isGroup).map((record) => record.trim().split('\n'))
  await slapd.modify(groups.map(withoutMembers).join('') + groups.map(itsMembers).join(''))
  ldif = await dumpLdif(slapd, slapd.admin, 'entryUUID')
})

const isGroup = (record: string) => record.includes('\nobjectClass: groupOfNames\n')
const isMember = (line: string) => line.startsWith('member:')

function withoutMembers([dn, ...lines]: readonly string[]): string {
  const others = lines.filter((line) => !isMember(line))
  return [dn, 'changetype: add', ...others, 'member:', '', ''].join('\n')
}

function itsMembers([dn, ...lines]: readonly string[]): string {
  return [dn, 'changetype: modify', 'replace: member', ...lines.filter(isMember), '', ''].join('\n')
}

afterAll(() => slapd?.close())

const RULES: Omit<TruthRules, 'nested'> = {
  isUser: (entry) => valuesOf(entry, 'objectClass').includes('inetOrgPerson'),
  isGroup: (entry) => valuesOf(entry, 'objectClass').includes('groupOfNames'),
  id: { attribute: 'entryUUID', form: 'text' },
  name: ['cn'],
  groupName: 'cn',
  allowedDomain: 'example.org',
}

test.each(['direct', 'flatten'] as const)(
  'what the members say (memberOf) is what the groups say (member): %s',
  async (nested) => {
    const { users, groups } = peopleSections(BASE)
    const { dn, password } = slapd.readers.reader
    const source = createLdapSource(
      {
        url: slapd.url,
        tls: { startTls: false },
        bind: { dn, password: async () => password },
        pageSize: 500,
        timeouts: { connectMs: 60_000, answerMs: 60_000 },
        users: { ...users, scope: 'sub' },
        groups: {
          ...groups,
          map: { external_id: 'entryUUID', name: 'cn' },
          scope: 'sub',
          nested,
          membersFrom: 'memberOf',
        },
      },
      silentLog(),
    )
    const snapshot = await source.read(new AbortController().signal)
    const truth = truthOf(ldif, { ...RULES, nested })
    expect(truth.groups.size).toBe(GROUPS)
    const seen = [...snapshot.groups].map(([id, { members }]) => {
      // Those whose e-mail is outside of the allowed domains are left out by the plan, not by the read.
      return [id, members.filter((member) => truth.users.has(member)).toSorted()] as const
    })
    const wanted = [...truth.groups].map(([id, { members }]) => [id, members.toSorted()] as const)
    expect(new Map(seen)).toEqual(new Map(wanted))
  },
)
