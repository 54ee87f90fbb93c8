import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DirectoryUser, UserEntry } from '../../../../src/core/entries/entry.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'

/** Texts of one and two bytes a character, half characters, and long ones. */
const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'Müller', 'ÿ', 'Ā', 'Łukasz', '😀', '\ud800', '\0', 'x'.repeat(300)),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const id = fc.oneof(fc.constantFrom('1', '2', '3', '١', '\ud800'), text)
const from = fc.oneof(
  fc.constantFrom(
    'uid=a,ou=people,dc=x',
    'cn=Doe\\, John,ou=people',
    'users.csv, row 7',
    'users.csv, row 8 (line 9)',
  ),
  text,
)
/** Often the same, so that two users differ in one value. */
const value = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b') }, text)
const maybe = fc.option(value, { nil: undefined })
const sourceUser = fc.record({ id, email: maybe, name: maybe, employeeId: maybe, from })
const directoryUser = fc.record({
  id,
  email: fc.option(value, { nil: null }),
  name: fc.option(value, { nil: null }),
})

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), user: sourceUser }),
  fc.record({ do: fc.constant('delete' as const), id }),
  fc.record({ do: fc.constant('list' as const), user: directoryUser }),
)

function addListed(users: DirectoryUsers, table: UserTable, { id: of, email, name }: DirectoryUser): boolean {
  return users.add(table.rowOf(of, email ?? undefined, name ?? undefined))
}

test('both sides of a table are what maps would be', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new UserTable()
      const [source, directory] = [new SourceUsers(table), new DirectoryUsers(table)]
      const [want, have] = [new Map<string, UserEntry>(), new Map<string, DirectoryUser>()]
      for (const each of steps) {
        if (each.do === 'delete') {
          source.delete(each.id)
          want.delete(each.id)
        } else if (each.do === 'list') {
          expect(addListed(directory, table, each.user)).toBe(!have.has(each.user.id))
          if (!have.has(each.user.id)) have.set(each.user.id, each.user)
        } else if (!want.has(each.user.id)) {
          source.add(each.user)
          want.set(each.user.id, each.user)
        }
      }
      expect(new Map(source)).toEqual(want)
      expect(new Map(directory)).toEqual(have)
      expect([source.size, directory.size]).toEqual([want.size, have.size])
      for (const key of ['1', '2', '3', 'nobody', ...want.keys(), ...have.keys()]) {
        expect([source.get(key), source.has(key)]).toEqual([want.get(key), want.has(key)])
        expect([directory.get(key), directory.has(key)]).toEqual([have.get(key), have.has(key)])
      }
      expect(new Set(source.keys())).toEqual(new Set(want.keys()))
    }),
    { numRuns: 300 },
  )
})

test('a read that begins anew forgets the one before, and the other side stays', () => {
  const table = new UserTable()
  const first = new SourceUsers(table)
  const directory = new DirectoryUsers(table)
  first.add({ id: '1', email: 'a@x', name: 'A', employeeId: '7', from: 'uid=a,dc=x' })
  first.add({ id: '2', email: 'b@x', name: 'B', employeeId: undefined, from: 'uid=b,dc=x' })
  addListed(directory, table, { id: '1', email: 'a@x', name: 'A' })
  const second = new SourceUsers(table)
  second.add({ id: '1', email: 'a@x', name: 'A', employeeId: '8', from: 'uid=moved,dc=y' })
  expect([...second.values()]).toEqual([
    { id: '1', email: 'a@x', name: 'A', employeeId: '8', from: 'uid=moved,dc=y' },
  ])
  expect([...directory.keys()]).toEqual(['1'])
})

test('a table grows, and a text may be longer than a block', () => {
  const table = new UserTable()
  const source = new SourceUsers(table)
  // The block of this text has room for the next ones, behind what addresses reach.
  const long = 'x'.repeat(65 * 2 ** 20)
  const user = (index: number): UserEntry => ({
    id: `user-${index}`,
    email: `${index}@example.org`,
    name: index === 500 ? long : 'x'.repeat(1000),
    employeeId: String(index),
    from: `uid=${index},ou=people,dc=example`,
  })
  for (let index = 0; index < 20_000; index += 1) source.add(user(index))
  for (const index of [0, 1, 499, 501, 1023, 1024, 19_999])
    expect(source.get(`user-${index}`)).toEqual(user(index))
  expect(source.get('user-500')?.name === long).toBe(true)
  expect(source.size).toBe(20_000)
})
