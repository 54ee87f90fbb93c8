import { expect, test } from 'vitest'
import { compileUserMap, type Lookup, type UserMapping } from '../../../../src/source/mapping.ts'

type Entry = Readonly<Record<string, readonly string[]>>

function compile(expression: string): UserMapping {
  return compileUserMap({ external_id: 'uid', email: expression }, 'users.map', nameProblem)
}

function nameProblem(name: string): string | undefined {
  return /^[a-z][a-z0-9;.-]*$/i.test(name) ? undefined : `"${name}" is not the name of an attribute`
}

function lookupOf(entry: Entry): Lookup {
  return (attribute) => (Object.hasOwn(entry, attribute) ? entry[attribute] : undefined) ?? []
}

function valueOf(expression: string, entry: Entry): string | undefined {
  return compile(expression).email.valueOf(lookupOf(entry))
}

const FALLBACK = '= lower(first(mail, userPrincipalName, uid + "@example.org"))'

test.each<[string, string, Entry, string | undefined]>([
  ['the first alternative', FALLBACK, { mail: ['Anna@Example.ORG'], uid: ['anna'] }, 'anna@example.org'],
  ['the second alternative', FALLBACK, { userPrincipalName: ['A@x.org'], uid: ['anna'] }, 'a@x.org'],
  ['the last alternative', FALLBACK, { mail: [' '], uid: ['Anna'] }, 'anna@example.org'],
  ['no alternative, and no half value', FALLBACK, {}, undefined],
  ['a missing piece in front', '= title + " " + sn', { sn: ['Berg'] }, undefined],
  ['a missing piece in brackets', '= "a" + ("b" + title + "c")', {}, undefined],
  ['missing pieces of a join', '= join([title, givenName, sn], " ")', { sn: ['Berg'] }, 'Berg'],
  ['a join of nothing', '= join([title], " ")', {}, undefined],
  ['a function that leaves nothing', '= replace(mail, "@.*", "") + "@x.org"', { mail: ['@y'] }, undefined],
  ['a condition on what is missing', '= title > "a" || title == "x" ? "yes" : "no"', {}, 'no'],
  ['what is missing is null', '= title == null && title != "x" ? "yes" : "no"', {}, 'yes'],
  ['a text that says null', '= mail + "x"', { mail: ['null'] }, 'nullx'],
  ['a name of an object', '= first(constructor, attr("toString"), "none")', {}, 'none'],
  ['a name with an option', '= attr("cn;lang-de")', { 'cn;lang-de': ['Ä'] }, 'Ä'],
  ['an item hides an attribute', '= first(values(a).filter(b, b == "y"))', { a: ['x', 'y'], b: ['q'] }, 'y'],
  [
    'an item within another list',
    '= join(values(a).filter(x, values(b).exists(y, y == x)), ",")',
    { a: ['1', '2', '3'], b: ['3', '1'] },
    '1,3',
  ],
  ['several values in any order', '= join(values(a), ",")', { a: ['b', ' a ', 'b', ''] }, 'a,b'],
  ['an expression over two lines', '= first(mail,\n  uid)', { uid: ['anna'] }, 'anna'],
  ['blanks before the sign', ' =uid', { uid: ['anna'] }, 'anna'],
  ['blanks around the result', '= " a " + uid + " "', { uid: ['x'] }, 'a x'],
  ['a dollar in the value', '= replace(uid, "a", "b")', { uid: ['a$1$&'] }, 'b$1$&'],
  ['a dollar in the replacement', '= replace(uid, "a", "$$1")', { uid: ['a'] }, '$1'],
  ['a group that took no part', '= replace(uid, "(x)|a", "[$1]")', { uid: ['a'] }, '[]'],
])('%s', (_, expression, entry, expected) => {
  expect(valueOf(expression, entry)).toBe(expected)
})

test.each([
  ['= lwoer(mail)', 'column 3: there is no function "lwoer"'],
  ['= lower(mail, 3)', 'column 3: wrong number of arguments: 2; write lower(text)'],
  ['= slug()', 'write slug(text[, separator])'],
  ['=  first(mail, upper(5))', 'column 22: upper() takes a text or a list of texts, not a number'],
  ['= mail > 5 ? mail : uid', 'column 3: ">" cannot be used between a text and a number'],
  ['= mail ? mail : uid', 'did you mean has(mail)?'],
  ['= values(mail)', 'column 3: the result must be a text, not a list'],
  ['= has(mail)', 'the result must be a text, not true or false'],
  ['= when(has(mail), values(mail), uid)', 'both alternatives must be of the same type'],
  ['= attr(mail)', 'column 8: attr() takes the name of an attribute in quotes'],
  ['= attr("a" + mail)', 'takes the name of an attribute in quotes'],
  ['= values(a).filter(x, values(x) == null)', 'takes the name of an attribute in quotes'],
  ['= lower(_mail)', 'column 9: "_mail" is not the name of an attribute'],
  ['= attr(" ")', 'the name of an attribute is missing'],
  ['= replace(mail, uid, "x")', 'column 17: the regular expression must be a text in quotes'],
  ['= matches(mail, "(") ? "a" : "b"', 'column 17: the regular expression cannot be used'],
  ['= replace(mail, "(?=x)", "")', 'cannot be used'],
  ['= replace(mail, "((a{1,30}){1,30})", "")', 'too large'],
  ['= replace(mail, "a", "$1")', 'column 22: the replacement cannot be used'],
  ['= telephone-number', 'attr("telephone-number")'],
  ['= package', 'attr("…")'],
  ['= mail.domain', 'column 3: "." is followed by a function'],
  ['= "abc', 'column 3: the quote that ends this text is missing'],
  ['= lower(mail', 'column 13: ")" is missing before the end'],
  ['= [mail, uid', 'column 13: "]" is missing before the end'],
  ['= lower mail)', 'column 9: an operator or a comma is missing before this'],
  ['= lower(mail))', 'column 14: an operator or a comma is missing before this'],
  ['= has(mail) ? mail', 'column 19: ":" is missing before the end'],
  ['= mail +', 'column 9: something is missing at the end'],
  ['= + mail', 'column 3: an operator does not belong here'],
  ['= uid = "root" ? uid : mail', 'column 7: "=" does not belong here; "==" is equality'],
  ['= lower(mail); ', 'column 14: ";" does not belong here'],
  ['= first(mail,\n  lwoer(uid))', 'line 2, column 3: there is no function'],
  ['=', 'nothing after the "="'],
  ['= 1.5', 'only texts'],
  ['= {"a": "b"}', 'is not part of this language'],
  ['= cel.bind(x, mail, x)', 'there is no function "bind"'],
])('%s is refused', (expression, problem) => {
  expect(() => compile(expression)).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringContaining(problem),
    }),
  )
  expect(() => compile(expression)).toThrow(/^users\.map\.email: /)
})

test.each([
  ['deep', `= ${'('.repeat(60)}uid${')'.repeat(60)}`],
  ['large', `= first(${Array.from({ length: 30 }, () => `first(${'uid,'.repeat(20)}uid)`).join()})`],
  ['long', `= "${'x'.repeat(5_000)}"`],
])('an expression that is too %s is refused', (_, expression) => {
  expect(() => compile(expression)).toThrow(/^users\.map\.email: /)
})

test('an id is no expression', () => {
  expect(() => compileUserMap({ external_id: '= uid' }, 'users.map', () => undefined)).toThrow(
    'users.map.external_id: "= uid" is an expression, and only one plain attribute can be used here',
  )
})

test('an expression in a list and with a default', () => {
  const map = compileUserMap(
    { external_id: 'uid', name: { value: ['= upper(title)', '{givenName} {sn}'], default: '?' } },
    'users.map',
    () => undefined,
  )
  expect(map.name.valueOf(lookupOf({ title: ['dr'] }))).toBe('DR')
  expect(map.name.valueOf(lookupOf({ givenName: ['A'], sn: ['B'] }))).toBe('A B')
  expect(map.name.valueOf(lookupOf({}))).toBe('?')
})

test('a search asks for exactly the attributes that an expression names', () => {
  const expression = '= has(a) && values("b").all(x, x in [c, d]) ? attr("e-f") : first(values(g)[0], a)'
  expect(compile(expression).attributes).toEqual(['uid', 'a', 'b', 'c', 'd', 'e-f', 'g'])
})

test.each<[string, string, Entry, string]>([
  [
    'a text that is too long',
    '= uid',
    { uid: ['x'.repeat(40_000)] },
    'a text of 40000 characters is too long',
  ],
  ['a result that is too long', '= uid', { uid: ['x'.repeat(2_000)] }, 'it has 2,000 characters'],
  [
    'a list that is too long',
    '= values(a)[0]',
    { a: Array.from({ length: 20_000 }, (_, index) => String(index)) },
    'a list of 20000 values is too long',
  ],
  [
    'a question that takes too long',
    '= values(a).exists(x, values(a).all(y, y != x)) ? uid : null',
    { a: Array.from({ length: 9_000 }, (_, index) => String(index)) },
    'it takes too long',
  ],
])('%s is a fault of this entry, with its key', (_, expression, entry, reason) => {
  const fields = compile(expression).fieldsOf(lookupOf(entry))
  expect(fields.email).toBeUndefined()
  expect(fields.faults).toEqual([expect.stringContaining(`users.map.email: ${reason}`)])
})

test('whatever a lookup throws is a fault too', () => {
  const fields = compile('= uid').fieldsOf(() => {
    throw new Error('broken')
  })
  expect(fields.faults).toEqual(['users.map.email: it could not be computed (broken)'])
})
