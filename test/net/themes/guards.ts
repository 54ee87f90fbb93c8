import { HOUR } from '../company.ts'
import { limit, settle, grow, leaveSome, type Theme } from './theme.ts'

export const guards: readonly Theme[] = [
  {
    name: 'first-contact',
    begin({ rules, rng }) {
      if (rng.chance(0.5)) rules.grace = { ...rules.grace, deleteAfter: { user: { runs: 1 } } }
    },
    step(company, draft, number) {
      const { rng } = company
      if (number === 0) {
        if (rng.chance(0.5)) for (const { lists: all } of company.groups.values()) all[0]!.users.splice(0, 1)
        else leaveSome(company, rng.int(3))
      }
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'empty',
    begin: ({ rules, rng }) =>
      void (rules.limits = { ...rules.limits, minSourceUsers: rng.pick([1, 5, 20]) }),
    step(company, draft, number) {
      const { rng, users } = company
      if (number === 0) return
      if (rng.chance(0.4)) for (const id of users.keys()) draft.hidden.user.add(id)
      if (rng.chance(0.3)) draft.listing.empty.push(rng.pick(['user', 'group']))
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'shrunk',
    begin({ rules, rng }) {
      rules.limits = { ...rules.limits, maxSourceShrinkPercent: rng.pick([10, 20]) }
      if (rng.chance(0.4)) rules.grace = { ...rules.grace, deleteAfter: { user: { runs: 1 } } }
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      leaveSome(company, rng.int(6))
      if (rng.chance(0.3) && company.groups.size > 1) company.close([...company.groups.keys()][0]!)
      if (rng.chance(0.4)) for (const id of company.some(3)) draft.recheck.user.set(id, 'present')
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'delete-limits',
    begin(company) {
      const { rng } = company
      for (const kind of ['users', 'groups', 'memberships'] as const)
        limit(
          company,
          kind,
          rng.chance(0.5) ? { maxDeletes: rng.int(3) } : { maxDeletePercent: 5 + rng.int(20) },
        )
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      leaveSome(company, rng.int(4))
      for (const { lists: all } of company.groups.values())
        if (rng.chance(0.4)) all[0]!.users.splice(0, rng.int(4))
      if (rng.chance(0.3) && company.groups.size > 1) company.close([...company.groups.keys()][0]!)
      if (rng.chance(0.5))
        draft.decides.push({
          does: rng.pick(['approve', 'approve', 'reject']),
          ...(rng.chance(0.4) && { only: rng.int(3) }),
        })
      if (rng.chance(0.3)) for (const id of company.some(2)) draft.recheck.user.set(id, 'left-filter')
    },
  },
  {
    name: 'deletes-per-day',
    begin(company) {
      grow(company, 16)
      for (const kind of ['users', 'groups', 'memberships'] as const)
        limit(company, kind, { maxDeletesPerDay: 2 })
    },
    step(company, draft, number) {
      const { rng } = company
      if (number === 0) return settle(draft, number)
      leaveSome(company, 1 + rng.int(2))
      for (const { lists: all } of company.groups.values()) all[0]!.users.splice(0, 1)
      if (rng.chance(0.2)) draft.ends = rng.pick(['crash-in-apply', 'error-in-apply'])
      if (rng.chance(0.3)) draft.decides.push({ does: 'approve' })
      draft.ahead = rng.pick([HOUR, 13 * HOUR])
    },
    isQuiet: true,
  },
  {
    name: 'update-limits',
    begin(company) {
      grow(company, 22)
      if (company.rng.chance(0.5)) limit(company, 'users', { maxUpdatePercent: 40 })
      else
        for (const kind of ['users', 'groups', 'memberships'] as const)
          limit(company, kind, { maxUpdates: company.rng.int(3) })
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      const count = rng.pick([1, 4, 21])
      for (const id of company.some(count)) company.users.get(id)!.name = `Other${rng.int(99)}`
      for (const group of company.groups.values()) {
        if (rng.chance(0.3)) group.name = `Other${rng.int(99)}`
        if (rng.chance(0.3)) group.lists[0]!.users = company.some(6)
      }
      if (rng.chance(0.4))
        draft.decides.push({
          does: rng.pick(['approve', 'reject']),
          ...(rng.chance(0.4) && { only: rng.int(2) }),
        })
    },
  },
  {
    name: 'moved-ids',
    begin: ({ rules, rng }) => void (rules.limits = { ...rules.limits, maxMovedIds: rng.int(3) }),
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, users } = company
      const moved = company.some(2 + rng.int(3)).map((id) => users.get(id)!)
      const values = moved.map(({ name, email }) => ({ name, email }))
      for (const [place, user] of moved.entries()) Object.assign(user, values[(place + 1) % values.length])
      if (rng.chance(0.4)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'id-forms',
    begin(company) {
      company.users.clear()
      company.idOf = (number) => String(1000 + number)
      grow(company, 10)
    },
    step(company, draft, number) {
      const { rng } = company
      if (number === 0) {
        for (const id of ['admin', 'break-glass'])
          draft.others.push({ does: 'put-user', user: { id, name: id, email: null } })
        return settle(draft, number)
      }
      if (number !== 1) return
      // Users come back under another id, with their e-mail.
      for (const id of company.some(rng.pick([1, 2, 9]))) {
        const user = company.users.get(id)!
        company.leave(id)
        company.hire({ ...user, id: `${id}9` })
      }
    },
    isQuiet: true,
  },
  {
    name: 'configuration',
    begin(company) {
      if (company.rng.chance(0.5)) grow(company, 24)
      if (company.rng.chance(0.5))
        company.rules.grace = { ...company.rules.grace, deleteAfter: { user: { runs: 1 } } }
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, rules } = company
      if (rng.chance(0.6))
        rules.options = {
          'users.filter': rng.pick(['a', 'b']),
          ...(rng.chance(0.3) && { 'groups.map': 'c' }),
        }
      const changed = company.some(rng.pick([2, 8, 21]))
      if (rng.chance(0.5)) for (const id of changed) company.users.get(id)!.name = `Other${rng.int(99)}`
      else leaveSome(company, changed.length / 2)
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
]
