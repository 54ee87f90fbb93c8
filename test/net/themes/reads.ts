import type { SkipCode } from '../story.ts'
import { settle, leaveSome, type Theme } from './theme.ts'

export const reads: readonly Theme[] = [
  {
    name: 'recheck-finds-many',
    step({ rng, users }, draft, number) {
      settle(draft, number)
      if (number === 0 || rng.chance(0.3)) return
      for (const id of rng.some([...users.keys()], 2 + rng.int(6))) {
        draft.hidden.user.add(id)
        draft.recheck.user.set(id, 'present')
      }
      if (draft.server !== undefined && rng.chance(0.3))
        draft.server = { ...draft.server, position: { s1: '000001' } }
    },
  },
  {
    name: 'seen-again',
    begin({ rules, rng }) {
      if (rng.chance(0.7))
        rules.grace = { ...rules.grace, deleteAfter: { user: { runs: 2 }, group: { runs: 1 } } }
    },
    step({ rng, users, groups }, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const [first = '', second = ''] = [...users.keys()]
      for (const id of [first, second]) draft.hidden.user.add(id)
      if (rng.chance(0.5)) draft.recheck.user.set(first, rng.pick(['present', 'left-filter', 'disabled']))
      const [group = ''] = groups.keys()
      draft.hidden.group.add(group)
      if (rng.chance(0.5)) draft.recheck.group.set(group, 'present')
    },
  },
  {
    name: 'unreadable',
    begin: ({ rules }) => void (rules.grace = { ...rules.grace, deleteAfter: {} }),
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      leaveSome(company, company.rng.int(3))
      const group = company.rng.pick([...company.groups.values()])
      if (group !== undefined) group.lists[0]!.users = company.some(3)
      if (company.rng.chance(0.6)) draft.unreadable = 1
    },
  },
  {
    name: 'skipped',
    begin: ({ rng, rules }) => {
      if (rng.chance(0.5)) rules.limits = { ...rules.limits, users: { ...rules.limits.users, maxDeletes: 0 } }
    },
    step(company, draft, number) {
      const { rng, groups } = company
      if (number === 0) return settle(draft, number)
      const ids = company.ids()
      const codes: readonly SkipCode[] = ['disabled', 'no-name', 'duplicate-id']
      for (const id of [...ids.slice(0, 2), ...rng.some(ids, 1)]) draft.skipped.set(id, rng.pick(codes))
      if (rng.chance(0.5)) draft.skipped.set(rng.pick([...groups.keys()]), 'members-hidden')
      if (rng.chance(0.5)) draft.listing.shared.push(...rng.some(ids, 1))
      leaveSome(company, rng.int(3))
      if (rng.chance(0.5)) draft.decides.push({ does: 'reject' })
    },
  },
  {
    name: 'shared-id',
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const [gone] = leaveSome(company, 1)
      if (gone !== undefined) draft.listing.shared.push(gone)
    },
  },
  {
    name: 'without-groups',
    begin(company) {
      company.isLdap = company.rng.chance(0.5)
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      if (number === 1)
        company.covers = company.rng.pick([
          { groups: false, members: false },
          { groups: true, members: false },
        ])
      for (const group of company.groups.values())
        if (company.rng.chance(0.4)) group.lists[0]!.users = company.some(2)
    },
  },
  {
    name: 'short-list',
    step({ rng, users }, draft, number) {
      settle(draft, number)
      if (number === 0) return
      for (const id of rng.some([...users.keys()], rng.int(8))) draft.listing.hiddenUsers.add(id)
      if (rng.chance(0.2)) draft.listing.empty.push(rng.pick(['user', 'group']))
      if (rng.chance(0.2)) draft.listing.isMoved = true
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
]
