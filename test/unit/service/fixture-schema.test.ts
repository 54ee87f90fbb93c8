import { describe, expect, test } from 'vitest'
import { parseFixture } from '../../../src/service/fixture-schema.ts'

const ORGANIZATION = 'id: 1, name: Example, allowedDomains: [example.org]'

function fixture(more: string): string {
  return `organizations: [{ ${ORGANIZATION}${more === '' ? '' : `, ${more}`} }]`
}

function contact(token: string): string {
  return fixture(`contacts: [{ id: 1, name: Ada, email: ada@example.org, tokens: [${token}] }]`)
}

function users(text: string): string {
  return fixture(`directories: [{ id: 7, name: Corporate, users: [${text}] }]`)
}

describe('a fixture', () => {
  test('needs no more than an organization', () => {
    expect(parseFixture(fixture(''), 'f.yaml').organizations).toEqual([
      { id: 1, name: 'Example', allowedDomains: ['example.org'], contacts: [], directories: [] },
    ])
  })

  test.each([
    ['a: b: c', 'line 1, column 4 is not YAML'],
    ['', 'the file: '],
    ['organizations: []', 'organizations: '],
    ['organizations: [{}]', 'organizations[0].id is missing'],
    [fixture('colour: red'), 'organizations[0] has the unknown key "colour"'],
    [fixture('directories: [{ id: x, name: y }]'), 'organizations[0].directories[0].id: '],
    [
      contact('{ token: t, scopes: [ORG], expires: soon }'),
      'tokens[0].expires: must be a duration such as "30d"',
    ],
    [contact('{ token: t, scopes: [ROOT], expires: 1d }'), 'tokens[0].scopes[0]: '],
    [contact('{ scopes: [ORG], expires: 1d }'), 'tokens[0]: must have either "token" or "sha256"'],
    [
      contact('{ token: t, sha256: abc, scopes: [ORG], expires: 1d }'),
      'tokens[0].sha256: must be 64 hexadecimal',
    ],
    [users('{ email: a@example.com }'), 'users[0].email: is outside the allowed domains'],
    [users('{ external_id: a }, { external_id: a }'), 'users[1].external_id: is there twice'],
    [`organizations: [{ ${ORGANIZATION} }, { ${ORGANIZATION} }]`, 'organization 1 is there twice'],
  ])('%s is refused with the path and the key', (text, why) => {
    expect(() => parseFixture(text, 'conf/f.yaml')).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: expect.stringMatching(/^The fixture conf\/f\.yaml cannot be used: .*\.$/s),
      }),
    )
    expect(() => parseFixture(text, 'conf/f.yaml')).toThrow(why)
  })

  test('never repeats a token in a message', () => {
    const text = contact(
      '{ token: the-secret, sha256: the-other-secret, scopes: [ORG], expires: 1d, the: key }',
    )
    expect(() => parseFixture(text, 'f.yaml')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  })
})
