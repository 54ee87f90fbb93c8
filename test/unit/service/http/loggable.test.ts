import { expect, test } from 'vitest'
import { endpoints, type Operation } from '../../../../src/api/contract/endpoints.ts'
import { newToken } from '../../../../src/service/access-token.ts'
import { loggableUrl, maskTokens, queryNames } from '../../../../src/service/http/loggable.ts'

const token = newToken()

function percentEncode(text: string): string {
  return Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('')
}

test.each([
  ['alone', token],
  ['in a path', `/users/${token}/x`],
  ['beside another', `${token},${newToken()}`],
  ['percent-encoded', percentEncode(token)],
  ['percent-encoded in capitals', percentEncode(token).toUpperCase()],
  ['percent-encoded in part', `am%5F${token.slice(3)}`],
  ['percent-encoded twice', encodeURIComponent(percentEncode(token))],
])('a token that is %s is masked', (_how, text) => {
  const masked = maskTokens(text)
  expect(masked).toContain('am_…')
  expect(masked).not.toContain(token.slice(10))
  expect(masked.length).toBeLessThan(25)
})

test.each(['am_short', 'am_', 'program', '/users/sam_2', 'x'.repeat(100)])('%s stays', (text) => {
  expect(maskTokens(text)).toBe(text)
})

test.each<[Operation, string, string]>([
  ['listUsers', '/a?page=2&per_page=5', '/a?page=2&per_page=5'],
  ['listUsers', '/a?token=secret&page=2', '/a?token=…&page=2'],
  ['listUsers', '/a?secret', '/a?…'],
  ['listUsers', '/a?access_token=x=y&&q=z', '/a?access_token=…&&q=…'],
  ['listUsers', '/a?%zz=secret', '/a?%zz=…'],
  ['listUsers', '/a?b?page=secret', '/a?b?page=…'],
  ['listOrganizationGroups', '/a?q=front', '/a?q=front'],
  ['listSubscriptions', '/a?all=true', '/a?all=true'],
  [
    'listEvents',
    '/a?filters[type]=b&filters%5Bip_from%5D=::1',
    '/a?filters[type]=b&filters%5Bip_from%5D=::1',
  ],
  ['listEvents', '/a?filters[token]=secret&filters=secret', '/a?filters[token]=…&filters=…'],
  ['getUser', '/a?page=secret', '/a?page=…'],
  ['readCredentials', '/a?password=secret', '/a?password=…'],
  ['listOrganizationGroups', `/a?q=${token}&${token}=1`, '/a?q=am_…&am_…=…'],
])('of a query for %s the log has what it knows: %s', (operation, url, logged) => {
  expect(loggableUrl(url, queryNames(endpoints[operation]))).toBe(logged)
})
