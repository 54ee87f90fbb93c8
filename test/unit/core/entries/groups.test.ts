import * as fc from 'fast-check'
import { atOnce } from '../../../../src/base/steps.ts'
import { expect, test } from 'vitest'
import { flatten, type ListedGroup } from '../../../../src/core/entries/groups.ts'

interface GroupNode {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

function listed(key: string, { users, groups: nested }: GroupNode): ListedGroup {
  return {
    key,
    id: key,
    dn: key,
    lists: [{ attribute: 'member', users, nested, unresolved: [] }],
    memberOf: [],
  }
}

function nodes(groups: Readonly<Record<string, GroupNode>>): ReadonlyMap<string, ListedGroup> {
  return new Map(Object.entries(groups).map(([key, node]) => [key, listed(key, node)]))
}

function usersIn(groups: ReadonlyMap<string, ListedGroup>, key: string): ReadonlySet<string> {
  return new Set(atOnce(flatten(groups, groups.get(key)!)))
}

test('a circle has everybody in it, once', () => {
  const circle = nodes({
    a: { users: ['1', '2'], groups: ['b'] },
    b: { users: ['2', '3'], groups: ['a', 'b', 'nowhere'] },
  })
  expect([...usersIn(circle, 'a')].toSorted()).toEqual(['1', '2', '3'])
  expect([...usersIn(circle, 'b')].toSorted()).toEqual(['1', '2', '3'])
})

test('a chain may be of any length', () => {
  const length = 100_000
  const chain = new Map<string, ListedGroup>()
  for (let at = 0; at < length; at += 1)
    chain.set(`${at}`, listed(`${at}`, { users: [`u${at}`], groups: [`${at + 1}`] }))
  expect(usersIn(chain, '0').size).toBe(length)
})

/** The closure by its definition: repeated until nothing is added. */
function naive(all: readonly GroupNode[]): Set<string>[] {
  const users = all.map((node) => new Set(node.users))
  for (let before = -1, now = 0; before !== now;) {
    before = now
    for (const [index, node] of all.entries()) {
      for (const child of node.groups) for (const user of users[Number(child)] ?? []) users[index]?.add(user)
    }
    now = users.reduce((sum, each) => sum + each.size, 0)
  }
  return users
}

test('is the transitive closure', () => {
  const names = fc.array(fc.nat(11).map(String), { maxLength: 4 })
  const graphs = fc.array(fc.record({ users: names, groups: names }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(graphs, (all) => {
      const graph = nodes(Object.fromEntries(all.entries()))
      const closure = naive(all)
      for (const index of all.keys()) expect(usersIn(graph, String(index))).toEqual(closure[index])
    }),
  )
})
