import { describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { type FakeAnswer, type FakeSearch, startFakeLdap } from '../support/fake-ldap.ts'

const NEVER = new AbortController().signal
const SETTINGS = {
  tls: { startTls: false },
  pageSize: 1000,
  timeouts: { connectMs: 60_000, answerMs: 60_000 },
} as const

const isBelow = ({ base, scope }: FakeSearch, name: string) => base.includes(name) && scope === 2

describe('a base that shows nothing', () => {
  const place = {
    base: 'ou=Staff,dc=x',
    scope: 'sub',
    filter: '(cn=*)',
    map: { external_id: 'cn', name: 'cn' },
  } as const
  const groups = { ...place, base: 'ou=Teams,dc=x' }
  const someone = { dn: 'cn=a,ou=staff,dc=x', attributes: { cn: ['a'] } }

  async function readWith(answer: (search: FakeSearch) => FakeAnswer) {
    await using server = await startFakeLdap(answer)
    const source = createLdapSource({ ...SETTINGS, url: server.url, users: place, groups }, silentLog())
    const { users } = await source.read(NEVER)
    return {
      users: users.size,
      looks: server.searches.filter(({ base, scope }) => base !== '' && scope === 0),
    }
  }

  test.each<[string, FakeAnswer]>([
    ['success and no entry', {}],
    ['that it is not there', { code: 32 }],
    ['that the reader may not look', { code: 50 }],
  ])('and whose own entry is hidden stops the read: the server says %s', async (_, hidden) => {
    const reading = readWith((search) => {
      if (isBelow(search, 'Staff')) return { entries: [someone] }
      return search.scope === 0 && search.base !== '' ? hidden : {}
    })
    await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
    await expect(reading).rejects.toThrow(
      /shows neither the entry "ou=Teams,dc=x".* let the reader see it again/,
    )
  })

  test('and whose own entry is there is only empty', async () => {
    const { users, looks } = await readWith((search) => {
      const isBase = search.scope === 0 && search.base !== ''
      return isBase ? { entries: [{ dn: search.base, attributes: {} }] } : {}
    })
    expect([users, looks.map(({ base }) => base)]).toEqual([0, ['ou=Staff,dc=x', 'ou=Teams,dc=x']])
  })

  test('is not asked for where there are entries below it', async () => {
    const read = await readWith((search) => (search.scope === 2 ? { entries: [someone] } : {}))
    expect(read).toEqual({ users: 1, looks: [] })
  })
})
