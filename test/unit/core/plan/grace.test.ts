import { describe, expect, test } from 'vitest'
import { deleteFingerprint } from '../../../../src/core/plan/change.ts'
import { type GraceRule, whyDeleteWaits } from '../../../../src/core/plan/grace.ts'
import type { DeleteWait, Withheld } from '../../../../src/core/plan/inputs.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  IN_GRACE,
  LACKS,
  linesOf,
  noticesOf,
  planOf,
  REJECTED,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

const UNPROVED: DeleteWait = { code: 'unproved', params: { wait: LACKS } }
const NOW = new Date('2026-03-10T12:00:00Z')
const HOUR = 3_600_000

/** Of a user who is absent for so many hours, and was so in so many reads before this one. */
function waitOf(rule: Partial<GraceRule>, hours: number, reads: number) {
  const since = new Date(NOW.getTime() - hours * HOUR)
  const absences = { user: new Map(reads === 0 ? [] : [['ana', { since, reads }]]), group: new Map() }
  return whyDeleteWaits({ deleteAfter: {}, confirmAfterMs: undefined, ...rule }, absences, NOW, 'user', 'ana')
}

describe('a delete waits', () => {
  test.each([
    ['at once', {}, 0, 0, undefined],
    [
      'a time, in the first read without the entry',
      { ms: 2 * HOUR },
      0,
      0,
      { until: '2026-03-10T14:00:00.000Z' },
    ],
    ['a time that is not over', { ms: 2 * HOUR }, 1, 4, { until: '2026-03-10T13:00:00.000Z' }],
    ['a time that is over', { ms: 2 * HOUR }, 2, 1, undefined],
    ['three reads, in the first', { runs: 3 }, 0, 0, { reads: 2 }],
    ['three reads, in the second', { runs: 3 }, 9, 1, { reads: 1 }],
    ['three reads, in the third', { runs: 3 }, 9, 2, undefined],
    ['one read', { runs: 1 }, 0, 0, undefined],
  ] as const)('%s', (_, rule, hours, reads, params) => {
    const deleteAfter = Object.keys(rule).length === 0 ? {} : { user: rule as { ms: number } }
    const since = new Date(NOW.getTime() - hours * HOUR).toISOString()
    expect(waitOf({ deleteAfter }, hours, reads)).toEqual(
      params && { code: 'in-grace', params: { since, ...params } },
    )
  })

  test('of users only, where groups have no such rule', () => {
    const rule = { deleteAfter: { user: { ms: HOUR } }, confirmAfterMs: undefined }
    expect(whyDeleteWaits(rule, { user: new Map(), group: new Map() }, NOW, 'group', 'sales')).toBeUndefined()
  })

  test.each([
    [
      'the first read without it',
      0,
      0,
      { since: '2026-03-10T12:00:00.000Z', after: '2026-03-10T13:00:00.000Z' },
    ],
    [
      'a second read that comes too early',
      0.5,
      1,
      { since: '2026-03-10T11:30:00.000Z', after: '2026-03-10T12:30:00.000Z' },
    ],
    ['a second read that is late enough', 1, 1, undefined],
  ])('for a second read where the server does not show its state: %s', (_, hours, reads, params) => {
    expect(waitOf({ confirmAfterMs: HOUR }, hours, reads)).toEqual(
      params && { code: 'unproved', params: { wait: { code: 'absence-unconfirmed', params } } },
    )
  })
})

describe('who waits', () => {
  const directory = directoryOf([haveUser('ana'), haveUser('bo')], [haveGroup('g', 'G', ['ana', 'bo'])])
  const source = sourceOf(
    [wantUser('bo'), wantUser('cy', 'Cy', 'ana@example.org')],
    [wantGroup('g', 'G', ['bo'])],
  )

  const planWith = (wait: DeleteWait) => planOf(source, directory, { waits: { whyNotDeleted: () => wait } })

  test('in grace leaves the groups at once, keeps the e-mail, and is named', () => {
    const plan = planWith(IN_GRACE)
    expect(linesOf(plan)).toEqual(['create-user cy', 'set-members g'])
    expect([...plan.changes][0]?.change).toMatchObject({ want: { name: 'Cy' } })
    expect([...plan.changes][0]?.change).not.toHaveProperty('want.email')
    expect([...plan.changes][1]).toMatchObject({ change: { want: ['bo'] }, removes: 1 })
    expect(noticesOf(plan)).toEqual(['in-grace ana', 'duplicate-email cy'])
    expect(plan.notices[0]?.params).toMatchObject({
      ...IN_GRACE.params,
      op: 'delete-user',
      name: 'Name ana',
      email: 'ana@example.org',
    })
  })

  test('for proof keeps the groups too', () => {
    expect(linesOf(planWith(UNPROVED))).toEqual(['create-user cy'])
  })
})

function withheld(why: Withheld): ReadonlyMap<string, Withheld> {
  return new Map([[deleteFingerprint('user', 'ana'), why]])
}

describe('whoever is gone from the source, and whose delete', () => {
  type More = Parameters<typeof planOf>[2]
  function membersAfter(more: More): readonly string[] {
    const plan = planOf(
      sourceOf([wantUser('bo')], [wantGroup('g', 'G', ['bo'])]),
      directoryOf([haveUser('ana'), haveUser('bo')], [haveGroup('g', 'G', ['ana', 'bo'])]),
      more,
    )
    expect([...plan.changes].every(({ change }) => change.op === 'set-members')).toBe(true)
    const [change] = [...plan.changes].map((planned) => planned.change)
    return change?.op === 'set-members' ? change.want : ['ana', 'bo']
  }
  const inGrace = { whyNotDeleted: () => IN_GRACE }
  const unproved = { whyNotDeleted: () => UNPROVED }
  const refused = withheld({ code: 'quarantined', params: { answer: 'why' } })
  const mirror = { policy: 'mirror', membership: 'write', allowedDomains: [] } as const
  const isProtected = { ...mirror, entries: { users: { protected: ['ana'] } } }
  const seenAgain = { user: new Map([['ana', 'present' as const]]), group: new Map() }

  test.each<[string, More]>([
    ['the service refused', { withheld: refused }],
    ['has no effect', { withheld: withheld({ code: 'does-not-converge', params: { how: 'not-deleted' } }) }],
    ['is in grace', { waits: inGrace }],
  ])('%s, leaves the groups at once', (_, more) => {
    expect(membersAfter(more)).toEqual(['bo'])
  })

  test.each<[string, More]>([
    ['a person rejected', { withheld: withheld(REJECTED) }],
    ['a person rejected during its grace', { withheld: withheld(REJECTED), waits: inGrace }],
    ['is not proved', { waits: unproved }],
    ['was refused, and is not proved any more', { withheld: refused, waits: unproved }],
    ['was refused, and whom the second look found', { withheld: refused, sightings: seenAgain }],
    ['is in grace, and whom the second look found', { waits: inGrace, sightings: seenAgain }],
    ['a list of the sync forbids', { waits: inGrace, rules: isProtected }],
  ])('%s, keeps the memberships', (_, more) => {
    expect(membersAfter(more)).toEqual(['ana', 'bo'])
  })
})
