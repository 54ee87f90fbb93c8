import { type Company, type Draft, HOUR, MINUTE } from '../company.ts'
import { PARTS, settle, grow, type Theme } from './theme.ts'

/** A run of creates, updates and deletes of the same few entries, so that later steps can meet them. */
function changeKnown(company: Company): void {
  const { rng, users, groups: all } = company
  if (users.has('x0')) for (const id of ['x0', 'x1']) company.leave(id)
  else for (const id of ['x0', 'x1']) company.hire({ id, email: `${id}@example.org`, name: `Known ${id}` })
  const [first = '', second = '', third = ''] = users.keys()
  users.get(first)!.name = `Other${rng.int(99)}`
  users.get(second)!.email = rng.chance(0.3) ? users.get(third)!.email : `other${rng.int(99)}@example.org`
  if (users.size > 6) company.leave(third)
  const known = users.has('x0') ? ['x0', 'x1', first] : [second]
  for (const { lists } of all.values())
    if (rng.chance(0.6)) lists[0]!.users = [...new Set([...company.some(3), ...rng.some(known, 2)])]
  const [group = ''] = all.keys()
  if (rng.chance(0.4)) all.get(group)!.name = `Other${rng.int(99)}`
  if (rng.chance(0.4) && all.size > 1) company.close(group)
  if (rng.chance(0.4)) company.found()
}

/** Other clients write to the entries that `changeKnown` changes. */
function writeByHand({ rng, users, groups: all }: Company, draft: Draft): void {
  const [first = '', second = '', third = ''] = users.keys()
  const user = rng.pick(['x0', 'x0', 'x1', first, second, third])
  const group = rng.pick(['g0', ...all.keys()])
  const hand = {
    id: user,
    name: rng.pick([`Known ${user}`, 'By hand', 'By hand']),
    email: rng.pick([`${user}@example.org`, 'hand@example.org', null]),
  }
  const writes = [
    { does: 'put-user', user: hand },
    { does: 'put-user', user: hand },
    { does: 'put-user', user: hand },
    { does: 'delete-user', id: user },
    { does: 'add-member', group, user },
    { does: 'add-member', group, user: 'x0' },
    { does: 'remove-member', group, user },
    { does: 'put-group', group: { id: group, name: rng.pick(['By hand', `Group ${group}`]), members: [] } },
  ] as const
  draft.others.push(...rng.some(writes, 3))
}

export const undos: readonly Theme[] = [
  {
    name: 'undo',
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      changeKnown(company)
      if (number === 0 || rng.chance(0.3)) return
      const ids = [...company.some(2), 'x0', 'g0']
      draft.undo = {
        back: rng.pick([1, 1, 2, 3]),
        part: rng.pick([{}, {}, { ids }, { ids }, rng.pick(PARTS), rng.pick(PARTS)]),
      }
      draft.decides.push({ does: rng.pick(['approve', 'approve', 'approve', 'reject']) })
      if (rng.chance(0.1)) draft.ends = rng.pick(['crash-in-apply', 'error-in-apply'])
    },
  },
  {
    name: 'undo-after-others',
    begin: (company) => grow(company, 8),
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      if (number % 2 === 1) return changeKnown(company)
      writeByHand(company, draft)
      draft.undo = { back: 1, part: company.rng.pick([{}, {}, company.rng.pick(PARTS)]) }
      draft.decides.push({ does: 'approve' })
    },
    isQuiet: true,
  },
  {
    name: 'undo-after-runs',
    begin: (company) => grow(company, 8),
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      if (number <= 2) return changeKnown(company)
      if (rng.chance(0.3)) writeByHand(company, draft)
      draft.undo = { back: rng.pick([1, 2, 2, 3, 3, 4]), part: {} }
      draft.decides.push({ does: 'approve' })
    },
    isQuiet: true,
  },
  {
    name: 'undo-of-guarded',
    begin({ rules, rng }) {
      rules.entries = { users: { protected: ['x0'] }, groups: { protected: ['g1', 'g2', 'g3'] } }
      if (rng.chance(0.3)) rules.membership = 'report'
      if (rng.chance(0.3)) rules.policy = 'upsert'
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      if (number === 0) return
      if (number === 1) {
        company.found(['u1', 'u2'])
        return changeKnown(company)
      }
      draft.listing.shared.push(...rng.some(['x0', 'x1', ...company.some(2)], rng.int(3)))
      if (rng.chance(0.2)) draft.listing.hiddenUsers.add('x1')
      draft.undo = { back: 1, part: {} }
      draft.decides.push({ does: 'approve' })
      if (rng.chance(0.3)) draft.fates.set(rng.pick(['x0', 'x1']), rng.pick(['busy', 'forgotten', 'refused']))
    },
    isQuiet: true,
  },
  {
    name: 'undo-and-sync',
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      if (number < 2) changeKnown(company)
      draft.ahead = rng.pick([MINUTE, HOUR])
      // The sync makes the change again that was undone: it was no failure that it did not last.
      if (number === 2 || (number > 2 && rng.chance(0.4))) draft.undo = { back: 1, part: {} }
      draft.decides.push({ does: 'approve' })
    },
    isQuiet: true,
  },
]
