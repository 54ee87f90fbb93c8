import { expect, test } from 'vitest'
import {
  compileGroupMap,
  compileUserMap,
  type Lookup,
  type ValueExpression,
} from '../../../src/source/mapping.ts'

const ANY_NAME = () => undefined

function lookupOf(values: Readonly<Record<string, readonly string[]>>): Lookup {
  return (attribute) => values[attribute] ?? []
}

function nameOf(
  expression: ValueExpression,
  values: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  return compileUserMap({ external_id: 'id', name: expression }, 'users.map', ANY_NAME).name.valueOf(
    lookupOf(values),
  )
}

test.each<[string, string[], string | undefined]>([
  [
    'one in an allowed domain goes first',
    ['alias0@elsewhere.org', 'z@Example.ORG', 'b@example.org'],
    'b@example.org',
  ],
  ['one below an allowed domain is not in it', ['a@sub.example.org', 'b@example.org'], 'b@example.org'],
  ['none is allowed', ['b@elsewhere.org', 'a@elsewhere.org'], 'a@elsewhere.org'],
  ['blanks around it', ['a@elsewhere.org', ' b@example.org '], 'b@example.org'],
  ['one that is not allowed', ['a@elsewhere.org'], 'a@elsewhere.org'],
])('of several e-mails: %s', (_, mail, expected) => {
  const map = { external_id: 'id', email: 'mail', name: 'mail' }
  const { email, name } = compileUserMap(map, 'users.map', ANY_NAME, ['example.org'])
  const lookup = lookupOf({ mail })
  expect(email.valueOf(lookup)).toBe(expected)
  expect(email.trace(lookup).at(-1)).toMatchObject({ value: expected })
  expect(name.valueOf(lookup)).toBe(mail.map((each) => each.trim()).toSorted()[0])
})

test.each<[string, string[], string[], string]>([
  ['a prefix', ['a.example'], ['p2@a.example', 'SMTP:p2@a.example'], 'p2@a.example'],
  ['a blank', ['a.example'], ['a b@a.example', 'good@a.example'], 'good@a.example'],
  ['nothing before the @', ['a.example'], ['@a.example', 'good@a.example'], 'good@a.example'],
  ['two @', ['a.example'], ['aa@x@a.example', 'good@a.example'], 'good@a.example'],
  ['a prefix, and no address is there', ['a.example'], ['EX:/o=a', 'SMTP:p@a.example'], 'SMTP:p@a.example'],
  ['no domain, where all are allowed', [], ['broken', 'good@a.example'], 'good@a.example'],
  [
    'a name, where all are allowed',
    [],
    ['Alpha <good@a.example>', 'good@a.example', 'z@a.example'],
    'good@a.example',
  ],
])('of several e-mails one that is an address goes first: %s', (_, domains, mail, expected) => {
  const { email } = compileUserMap({ external_id: 'id', email: 'mail' }, 'users.map', ANY_NAME, domains)
  expect(email.valueOf(lookupOf({ mail }))).toBe(expected)
  expect(email.valueOf(lookupOf({ mail: mail.toReversed() }))).toBe(expected)
})

test.each<[string, ValueExpression, Record<string, string[]>, string | undefined]>([
  ['an attribute', 'cn', { cn: ['Anna'] }, 'Anna'],
  ['an attribute that is missing', 'cn', {}, undefined],
  ['an attribute of blanks only', 'cn', { cn: ['  '] }, undefined],
  ['blanks around a value', 'cn', { cn: [' Anna '] }, 'Anna'],
  ['several values, the first in order', 'cn', { cn: ['b', 'a', 'c'] }, 'a'],
  ['a blank one among several values', 'cn', { cn: ['', 'b'] }, 'b'],
  ['a template', '{givenName} {sn}', { givenName: ['Anna'], sn: ["O'Brien"] }, "Anna O'Brien"],
  ['a template with text around', 'Dr. {sn}!', { sn: ['Who'] }, 'Dr. Who!'],
  ['a template with a missing part', '{givenName} {sn}', { sn: ['Cher'] }, undefined],
  ['a template with blanks inside the braces', '{ sn }', { sn: ['Cher'] }, 'Cher'],
  [
    'the first of several',
    ['mail', 'userPrincipalName'],
    { mail: ['a@x'], userPrincipalName: ['b@x'] },
    'a@x',
  ],
  ['the second of several', ['mail', 'userPrincipalName'], { userPrincipalName: ['b@x'] }, 'b@x'],
  ['a template among several', ['{givenName} {sn}', 'cn'], { sn: ['Cher'], cn: ['Cher!'] }, 'Cher!'],
  ['none of several', ['mail', 'cn'], {}, undefined],
  ['a default that is needed', { value: ['mail', 'cn'], default: 'nobody' }, {}, 'nobody'],
  ['a default that is not needed', { value: 'cn', default: 'nobody' }, { cn: ['Anna'] }, 'Anna'],
  ['a default behind a template', { value: '{givenName} {sn}', default: '?' }, { sn: ['Cher'] }, '?'],
])('%s', (_, expression, values, expected) => {
  expect(nameOf(expression, values)).toBe(expected)
})

test('the attributes of a mapping are named once', () => {
  const map = compileUserMap(
    { external_id: 'uid', email: ['mail', 'uid'], name: { value: ['{givenName} {sn}', 'sn'], default: 'x' } },
    'users.map',
    ANY_NAME,
  )
  expect(map.attributes).toEqual(['uid', 'mail', 'givenName', 'sn'])
})

test('a group without a mapping of members asks for none', () => {
  const map = compileGroupMap({ external_id: 'id', name: 'cn' }, 'groups.map', ANY_NAME)
  expect(map).toMatchObject({ members: [], attributes: ['id', 'cn'] })
})

test.each<[string, ValueExpression, string]>([
  ['an unclosed brace', '{givenName {sn', 'users.map.name: unclosed "{"'],
  ['an unclosed brace at the end', '{givenName} {sn', 'users.map.name: unclosed "{" in "{givenName} {sn"'],
  ['a brace too many', 'sn}', 'users.map.name: "}" without "{"'],
  ['empty braces', '{}', 'users.map.name: the name of an attribute is missing'],
  ['an empty name', ' ', 'users.map.name: the name of an attribute is missing'],
  ['an empty list', [], 'users.map.name: the list of attributes is empty'],
  ['a fault in a list', ['cn', '{'], 'users.map.name[1]: unclosed'],
  ['a blank default', { value: 'cn', default: ' ' }, 'users.map.name.default: a default cannot be blank'],
  ['a fault under a default', { value: '{', default: 'x' }, 'users.map.name.value: unclosed'],
])('%s is refused with its key', (_, expression, message) => {
  const compile = () => compileUserMap({ external_id: 'id', name: expression }, 'users.map', ANY_NAME)
  expect(compile).toThrow(message)
  expect(compile).toThrow(expect.objectContaining({ code: 'config-invalid' }))
})

test.each([
  ['a NUL character', 'A\0nna', 'users.map.name: it holds a NUL character'],
  ['half a character', 'Anna \ud83d', 'users.map.name: it is not well-formed Unicode'],
])('a value with %s is none, and said', (_, value, fault) => {
  for (const name of ['cn', '{cn}!', '= lower(cn)', { value: 'cn', default: 'x' }]) {
    const map = compileUserMap({ external_id: 'id', name }, 'users.map', ANY_NAME)
    expect(map.fieldsOf(lookupOf({ cn: [value] }))).toMatchObject({ name: undefined, faults: [fault] })
  }
})

test('a value that is too long for a name is missing, with the reason', () => {
  const fault = 'users.map.name: it has 65,536 characters; the limit is 1,024'
  for (const name of ['cn', '{cn}', ['sn', 'cn'], { value: 'cn', default: 'x' }]) {
    const map = compileUserMap({ external_id: 'id', name }, 'users.map', ANY_NAME)
    expect(map.fieldsOf(lookupOf({ cn: ['x'.repeat(65_536)] }))).toMatchObject({
      name: undefined,
      faults: [fault],
    })
    expect(map.fieldsOf(lookupOf({ cn: ['x'.repeat(1024)] }))).toMatchObject({ faults: [] })
  }
})

test('an external_id is one plain attribute', () => {
  expect(() => compileUserMap({ external_id: '{uid}@x' }, 'users.map', ANY_NAME)).toThrow(
    'users.map.external_id: "{uid}@x" is a template, and only one plain attribute can be used here',
  )
})

test('the kind of source has a say in the names', () => {
  expect(() => compileUserMap({ external_id: 'id', email: '{bad}' }, 'users.map', refuseBad)).toThrow(
    'users.map.email: no such thing',
  )
})

function refuseBad(name: string): string | undefined {
  return name === 'bad' ? 'no such thing' : undefined
}
