import { expect, test } from 'vitest'
import { parseEndpoint } from '../../../../src/source/ldap/endpoint.ts'
import { requireWhole } from '../../../../src/source/ldap/range.ts'

const endpoint = parseEndpoint({ url: 'ldap://ad.example.org', tls: { startTls: false } })

test('a part of the members is an incomplete read', () => {
  const attributes = new Map([
    ['member', []],
    ['member;range=0-1499', [Buffer.from('cn=a')]],
  ])
  expect(() => requireWhole({ dn: 'cn=big', attributes }, endpoint)).toThrow(
    expect.objectContaining({ code: 'source-incomplete' }),
  )
})

test('other options are none of its business', () => {
  const attributes = new Map([['cn;lang-de', [Buffer.from('a')]]])
  expect(() => requireWhole({ dn: 'cn=big', attributes }, endpoint)).not.toThrow()
})
