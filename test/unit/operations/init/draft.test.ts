import { expect, test } from 'vitest'
import { type RawSync, resolveDraft } from '../../../../src/operations/init/draft.ts'

const SYNC: RawSync = {
  name: 'corp',
  source: {
    type: 'ldap',
    url: 'ldaps://ldap.example.org',
    bind: { dn: 'cn=reader,dc=example,dc=org', password: { file: 'secrets/ldap-password' } },
    users: { base: 'dc=example,dc=org', map: { external_id: 'entryUUID' } },
  },
  directory: {
    baseUrl: 'https://access.example.com',
    organizationId: 1,
    directoryId: 7,
    token: { file: 'secrets/access-token' },
  },
}

test('secrets that are not on disk yet are what their files will say, with the blanks at their ends', async () => {
  const { source, directory } = await resolveDraft(SYNC, {
    file: '/nowhere/dirsyncd.yaml',
    env: {},
    files: [
      { path: 'secrets/ldap-password', text: ' two words \n' },
      { path: 'secrets/access-token', text: 'token\n' },
    ],
  })
  if (source.type !== 'ldap' || source.options.bind === undefined || source.options.bind.external === true)
    throw new Error('the draft has a reader with a password')
  expect(await source.options.bind.password()).toBe(' two words ')
  expect(await directory.token.read()).toBe('token')
})

test('what is wrong is said with the option', async () => {
  const directory = { ...SYNC.directory, baseUrl: 'access.example.com' }
  await expect(
    resolveDraft({ ...SYNC, directory }, { file: '/nowhere/dirsyncd.yaml', env: {}, files: [] }),
  ).rejects.toThrow(/^directory\.baseUrl: /)
})
