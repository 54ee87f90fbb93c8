import { HOUR, MINUTE } from '../company.ts'
import type { Fate } from '../story.ts'
import { settle, leaveSome, type Theme } from './theme.ts'

export const times: readonly Theme[] = [
  {
    name: 'grace',
    begin({ rules, rng }) {
      const after = rng.pick([{ runs: 2 }, { ms: 20 * HOUR }, { ms: 20 * HOUR }])
      rules.grace = { ...rules.grace, deleteAfter: { user: after, group: after } }
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, users, groups } = company
      const [first = '', second = ''] = users.keys()
      const [group = ''] = groups.keys()
      for (const id of [first, second]) if (rng.chance(0.75)) draft.hidden.user.add(id)
      if (rng.chance(0.75)) draft.hidden.group.add(group)
      if (rng.chance(0.15)) draft.only = { users: [first], groups: [group] }
      if (rng.chance(0.15)) draft.mode = 'plan'
      if (rng.chance(0.2)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'confirm',
    begin(company) {
      company.hasServer = true
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      const address = rng.pick(['10.0.0.1', '10.0.0.1', '10.0.0.2'])
      const hints = { started: rng.pick(['a', 'a', 'b']) }
      draft.server = { ...company.server(), position: undefined, address, addresses: 1 + rng.int(2), hints }
      if (number === 0) return
      const [gone] = leaveSome(company, 1)
      if (gone !== undefined && rng.chance(0.3)) draft.recheck.user.set(gone, 'present')
      draft.ahead = rng.pick([5 * MINUTE, 5 * MINUTE, HOUR])
    },
  },
  {
    name: 'refused',
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      const [first = '', second = '', third = ''] = company.ids()
      const [group = ''] = company.groups.keys()
      for (const id of [first, second, group]) draft.fates.set(id, 'refused')
      if (number > 0 && rng.chance(0.6)) company.users.get(first)!.name = `Other${rng.int(3)}`
      if (number > 0 && rng.chance(0.3) && company.users.size > 5) company.leave(rng.pick([second, third]))
      draft.ahead = rng.pick([HOUR, HOUR, 13 * HOUR, 25 * HOUR])
    },
  },
  {
    name: 'not-persisted',
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      const [first = '', second = '', third = ''] = company.ids()
      const [group = ''] = company.groups.keys()
      const fate: Fate = 'forgotten'
      for (const id of [first, second, group, 'u99']) draft.fates.set(id, fate)
      if (number === 1) {
        company.users.get(first)!.name = 'Cut off'
        company.hire({ id: 'u99' })
      }
      if (number === 1 && rng.chance(0.5)) company.leave(second)
      if (number > 2 && rng.chance(0.3))
        draft.others.push({ does: 'put-user', user: { id: first, name: 'Cut off', email: null } })
      if (rng.chance(0.2)) draft.only = { users: [first, third], groups: [] }
      draft.ahead = rng.pick([10 * MINUTE, HOUR])
    },
    isQuiet: true,
  },
  {
    name: 'missed-creates',
    step(company, draft, number) {
      const { rng } = company
      if (number > 0) company.hire()
      const [first = '', second = ''] = company.ids().slice(-2)
      if (rng.chance(0.5)) draft.fates.set(first, rng.pick(['forgotten', 'garbled']))
      if (rng.chance(0.5)) draft.listing.hiddenUsers.add(first).add(second)
      if (rng.chance(0.3)) draft.others.push({ does: 'delete-user', id: first })
      draft.ahead = rng.pick([10 * MINUTE, HOUR, 13 * HOUR])
    },
    isQuiet: true,
  },
  {
    name: 'recently-deleted',
    begin(company) {
      company.hasServer = company.rng.chance(0.9)
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, users, groups } = company
      const [first = '', second = ''] = users.keys()
      if (number % 2 === 1) for (const id of [first, second]) draft.hidden.user.add(id)
      if (number % 2 === 1 && groups.size > 1) draft.hidden.group.add(groups.keys().next().value ?? '')
      draft.ahead = rng.pick([HOUR, 13 * HOUR, 25 * HOUR])
      if (rng.chance(0.3)) draft.decides.push({ does: 'approve' })
    },
  },
]
