import { type Company, HOUR, MINUTE } from '../company.ts'
import { PARTS, limit, settle, leaveSome, type Theme } from './theme.ts'

function holdEasily(company: Company): void {
  limit(company, 'users', { maxDeletes: 0, maxUpdates: 1 })
  limit(company, 'groups', { maxDeletes: 0 })
  limit(company, 'memberships', { maxDeletes: 1 })
}

function changeMuch(company: Company): void {
  leaveSome(company, company.rng.int(3))
  for (const id of company.some(2)) {
    const user = company.users.get(id)!
    user.name = `Other${company.rng.int(20)}`
    if (company.rng.chance(0.5)) user.email = `other${company.rng.int(20)}@example.org`
  }
  for (const { lists: all } of company.groups.values())
    if (company.rng.chance(0.4)) all[0]!.users = company.some(4)
}

export const decisions: readonly Theme[] = [
  {
    name: 'rejected',
    begin: holdEasily,
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
      const { rng } = company
      if (number === 1 || rng.chance(0.4)) changeMuch(company)
      if (rng.chance(0.6))
        draft.decides.push({ does: 'reject', ...(rng.chance(0.3) && { only: rng.int(2) }) })
      else if (rng.chance(0.5)) draft.decides.push({ does: 'approve' })
      if (rng.chance(0.2)) draft.unreadable = 1
      for (const id of company.some(1)) if (rng.chance(0.2)) draft.skipped.set(id, 'disabled')
      if (rng.chance(0.2)) for (const id of company.some(2)) draft.listing.hiddenUsers.add(id)
    },
  },
  {
    name: 'approved',
    begin: holdEasily,
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
      const { rng, users } = company
      const [first = ''] = users.keys()
      if (number % 2 === 1) draft.hidden.user.add(first)
      if (rng.chance(0.4)) changeMuch(company)
      draft.decides.push({ does: 'approve', ...(rng.chance(0.5) && { only: rng.int(3) }) })
      if (rng.chance(0.2)) draft.decides.push({ does: 'reject', only: rng.int(3) })
      if (rng.chance(0.15)) draft.ends = rng.pick(['crash-in-apply', 'error-in-apply'])
    },
  },
  {
    name: 'parts',
    begin: holdEasily,
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
      const { rng } = company
      if (number === 1 || rng.chance(0.6)) changeMuch(company)
      const ids = [...company.some(2), ...company.groups.keys()].slice(0, 3)
      const part = rng.chance(0.3) ? { ids } : rng.pick(PARTS)
      if (rng.chance(0.7)) draft.decides.push({ does: 'approve-part', part })
      else draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.2)) draft.ends = rng.pick(['crash-after-keep', 'crash-in-apply'])
      if (rng.chance(0.1)) draft.only = { users: company.some(2), groups: [] }
    },
  },
  {
    name: 'single-entries',
    begin(company) {
      if (company.rng.chance(0.5)) holdEasily(company)
      else company.rules.grace = { ...company.rules.grace, deleteAfter: { user: { runs: 1 } } }
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      changeMuch(company)
      if (rng.chance(0.6))
        draft.only = {
          users: [...company.some(3), 'nobody'],
          groups: rng.some([...company.groups.keys()], 2),
        }
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'holds',
    begin(company) {
      holdEasily(company)
      company.rules.holdMs = 2 * HOUR
    },
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
      const { rng } = company
      if (number === 1 || rng.chance(0.3)) changeMuch(company)
      draft.ahead = rng.pick([10 * MINUTE, HOUR, 13 * HOUR])
      if (number > 2 && rng.chance(0.5)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.15)) draft.mode = 'plan'
      if (rng.chance(0.15)) draft.only = { users: company.some(4), groups: [] }
    },
    isQuiet: true,
  },
  {
    name: 'crashes',
    step(company, draft, number) {
      const { rng } = company
      if (number === 0) settle(draft, number)
      changeMuch(company)
      company.hire()
      if (number < 4 && rng.chance(0.6))
        draft.ends = rng.pick([
          'crash-before-keep',
          'crash-after-keep',
          'crash-in-apply',
          'crash-in-apply',
          'error-in-apply',
        ])
      draft.ahead = rng.pick([10 * MINUTE, HOUR, 25 * HOUR])
    },
  },
]
