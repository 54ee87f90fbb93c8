import { describe, expect, test } from 'vitest'
import { idsOf } from '../../../../src/core/within.ts'
import { person, shown, X, Y, Z } from './emails.ts'
import {
  blockedOf,
  directoryOf,
  type Given,
  linesOf,
  noticesOf,
  type Plan,
  planOf,
  refusing,
  rejecting,
  sourceOf,
} from './build.ts'

/** The e-mails that a plan writes, in its order: `a x@example.org`, with a `?` where a user is written without one. */
function writtenIn(plan: Plan): string[] {
  return [...plan.changes].flatMap(({ change }) =>
    change.op === 'create-user' || change.op === 'update-user'
      ? [`${change.id} ${change.want.email ?? '?'}`]
      : [],
  )
}

/** Whose e-mail each written user takes, and after how many others. */
function ordersIn(plan: Plan): Record<string, readonly [string, number | null] | undefined> {
  return Object.fromEntries(
    [...plan.changes].flatMap(({ change }) =>
      change.op === 'create-user' || change.op === 'update-user'
        ? [[change.id, change.takes && ([change.takes.from, change.takes.after] as const)]]
        : [],
    ),
  )
}

function refusingOf(id: string, { changes }: Plan): Given {
  return refusing([...changes].filter(({ change }) => change.id === id))
}

const planWithOwner = (more: Given) =>
  planOf(sourceOf([person('a', X)]), directoryOf([shown('old', X)]), more)

describe('two people with one e-mail', () => {
  test('who has it in the directory keeps it, however the source writes it', () => {
    const plan = planOf(
      sourceOf([person('a', ' X@Example.org '), person('b', X)]),
      directoryOf([shown('b', X)]),
    )
    expect(writtenIn(plan)).toEqual(['a ?'])
    expect(noticesOf(plan)).toEqual(['duplicate-email a'])
    const params = { email: 'x@example.org', owner: 'b', how: 'held', from: 'uid=a', undo: null }
    expect(plan.notices[0]?.params).toEqual(params)
  })

  test('otherwise the smallest id gets it, and keeps it when a smaller one comes', () => {
    const plan = planOf(sourceOf([person('c', X), person('b', X)]), directoryOf([]))
    expect(writtenIn(plan)).toEqual(['b x@example.org', 'c ?'])
    const later = planOf(
      sourceOf([person('a', X), person('b', X), person('c', X)]),
      directoryOf([shown('b', X), shown('c', null)]),
    )
    expect(writtenIn(later)).toEqual(['a ?'])
    expect(noticesOf(later)).toEqual(['duplicate-email a', 'duplicate-email c'])
  })

  test('who does not get it keeps the present e-mail, and gets the other changes', () => {
    const source = sourceOf([person('a', X), { ...person('b', X), name: 'Renamed' }])
    const plan = planOf(source, directoryOf([shown('a', X), shown('b', Y)]))
    expect([...plan.changes].map(({ change }) => ('want' in change ? change.want : undefined))).toEqual([
      { name: 'Renamed' },
    ])
  })

  test('who share it in the directory already are left so, and named', () => {
    const plan = planOf(
      sourceOf([person('a', X), person('b', X)]),
      directoryOf([shown('a', X), shown('b', X)]),
    )
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['duplicate-email a', 'duplicate-email b'])
  })

  test.each([
    ['is not in the source and not deleted', { unreadable: 1 }],
    [
      'is in the source and cannot be used',
      { seen: { user: new Set(['a', 'old']), group: new Set<string>() } },
    ],
  ])('somebody who %s keeps it', (_case, more) => {
    const plan = planOf(sourceOf([person('a', X)], [], more), directoryOf([shown('old', X)]))
    expect(writtenIn(plan)).toEqual(['a ?'])
    expect(noticesOf(plan)).toContain('duplicate-email a')
  })

  test('a user whose delete the service refused keeps it', () => {
    const plan = planWithOwner({})
    expect(writtenIn(plan)).toEqual([`a ${X}`])
    const later = planWithOwner(refusingOf('old', plan))
    expect(linesOf(later)).toEqual(['create-user a'])
    expect(writtenIn(later)).toEqual(['a ?'])
  })

  test.each([
    ['wants one of a foreign domain', { policy: 'mirror', allowedDomains: ['example.org'] }],
    ['may only be created', { policy: 'create-only', allowedDomains: [] }],
  ] as const)('somebody who %s keeps the present e-mail, which nobody else gets', (_case, given) => {
    const source = sourceOf([person('a', 'a@elsewhere.example'), person('b', X)])
    const plan = planOf(source, directoryOf([shown('a', X)]), { rules: { ...given, membership: 'write' } })
    expect(writtenIn(plan)).toEqual(['b ?'])
    expect(noticesOf(plan)).toContain('duplicate-email b')
  })

  test('somebody whose own change of e-mail is withheld keeps it, and so on along the chain', () => {
    const source = sourceOf([person('a', Y), person('b', Z), person('c', 'new@example.org')])
    const directory = directoryOf([shown('a', X), shown('b', Y), shown('c', Z)])
    const plan = planOf(source, directory, rejecting([['user', 'c', 'email', 'new@example.org']]))
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['duplicate-email a', 'duplicate-email b'])
    expect(blockedOf(plan)).toEqual(['update-user c: rejected'])
  })

  test('somebody who waits for a quarantined change gets the other values all the same', () => {
    const source = sourceOf([{ ...person('a', Y), name: 'Renamed' }, person('b', Z)])
    const directory = directoryOf([shown('a', X), shown('b', Y)])
    const plan = planOf(source, directory, refusingOf('b', planOf(source, directory)))
    expect(writtenIn(plan)).toEqual(['a ?'])
    expect(noticesOf(plan)).toEqual(['duplicate-email a'])
    expect(blockedOf(plan)).toEqual(['update-user b: quarantine'])
  })

  test('so does somebody in the middle of a chain of quarantined changes', () => {
    const source = sourceOf([{ ...person('a', Y), name: 'Renamed' }, person('b', Z), person('c', X)])
    const directory = directoryOf([shown('a', X), shown('b', Y), shown('c', 'c@example.org')])
    const plan = planOf(source, directory, refusingOf('b', planOf(source, directory)))
    expect(writtenIn(plan)).toEqual(['a ?'])
    expect(noticesOf(plan)).toEqual(['duplicate-email a', 'duplicate-email c'])
  })

  test('nobody of a circle whose changes are all withheld is written', () => {
    const source = sourceOf([
      { ...person('a', Y), name: 'Other Name' },
      { ...person('b', X), name: 'Other Name' },
    ])
    const directory = directoryOf([shown('a', X), shown('b', Y)])
    const plan = planOf(source, directory, refusing(planOf(source, directory).changes))
    expect([...plan.changes]).toEqual([])
    expect(blockedOf(plan)).toEqual(['update-user a: quarantine', 'update-user b: quarantine'])
  })

  test('share it where that is allowed', () => {
    const rules = { policy: 'mirror', membership: 'write', allowedDomains: [], emails: 'shared' } as const
    const plan = planOf(sourceOf([person('a', X), person('b', X)]), directoryOf([]), { rules })
    expect(writtenIn(plan)).toEqual(['a x@example.org', 'b x@example.org'])
    expect(plan.notices).toEqual([])
  })
})

describe('e-mails that move', () => {
  test('are freed first', () => {
    const plan = planOf(
      sourceOf([person('a', Y), person('b', Z)]),
      directoryOf([shown('a', X), shown('b', Y)]),
    )
    expect(writtenIn(plan)).toEqual(['b z@example.org', 'a y@example.org'])
    expect([...plan.changes].map(({ phase }) => phase)).toEqual(['free-emails', 'take-emails'])
    expect([...plan.changes][1]?.change).toMatchObject({ takes: { from: 'b', after: 1 } })
    expect(plan.notices).toEqual([])
  })

  test('along a chain say how many others come first', () => {
    const plan = planOf(
      sourceOf([person('a', Y), person('b', Z), person('c', 'w@example.org'), person('d', X)]),
      directoryOf([shown('a', X), shown('b', Y), shown('c', Z)]),
    )
    expect(ordersIn(plan)).toEqual({ a: ['b', 2], b: ['c', 1], c: undefined, d: ['a', 3] })
    expect(plan.notices).toEqual([])
  })

  test('in a circle have no order, and neither has who waits for the circle and for somebody else', () => {
    const plan = planOf(
      sourceOf([person('p', Z), person('q', Y), person('r', X), person('s', 'w@example.org')]),
      directoryOf([shown('p', X), shown('q', X), shown('r', Y), shown('s', Z)]),
    )
    expect(ordersIn(plan)).toEqual({ p: ['s', 1], q: ['r', null], r: ['p', null], s: undefined })
    expect(noticesOf(plan)).toEqual(['email-swap q', 'email-swap r'])
  })

  test('are freed by a run that is limited to the user that gets one', () => {
    const source = sourceOf([person('a', Y), person('b', Z)])
    const directory = directoryOf([shown('a', X), shown('b', Y)])
    const plan = planOf(source, directory, { scope: idsOf({ users: ['a'], groups: [] }) })
    expect(writtenIn(plan)).toEqual(['b z@example.org', 'a y@example.org'])
    expect(noticesOf(plan)).toEqual([])
  })

  test('between two people are written, with a word about services that refuse it', () => {
    const plan = planOf(
      sourceOf([person('a', Y), person('b', X)]),
      directoryOf([shown('a', X), shown('b', Y)]),
    )
    expect(writtenIn(plan)).toEqual(['a y@example.org', 'b x@example.org'])
    expect(noticesOf(plan)).toEqual(['email-swap a', 'email-swap b'])
  })

  test('a change that was refused while the e-mail was taken is another one when it is free', () => {
    const source = sourceOf([person('a', Y), person('b', Z)])
    const taken = planOf(source, directoryOf([shown('a', X), shown('b', Y)]))
    const free = planOf(source, directoryOf([shown('a', X), shown('b', Z)]))
    const prints = [taken, free].map(
      (plan) => [...plan.changes].find(({ change }) => change.id === 'a')?.fingerprint,
    )
    expect(prints[0]).not.toBe(prints[1])
  })

  test('a person under a new id is shown as that', () => {
    const plan = planOf(sourceOf([person('p-18', X)]), directoryOf([shown('p-17', 'X@example.org')]))
    expect(linesOf(plan)).toEqual(['delete-user p-17', 'create-user p-18'])
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { newId: 'p-18' },
      { oldId: 'p-17' },
    ])
    expect(plan.notices).toEqual([
      {
        kind: 'user',
        id: 'p-18',
        code: 'new-id',
        params: { oldId: 'p-17', email: 'x@example.org' },
      },
    ])
  })
})
