import { HOUR } from '../company.ts'
import { limit, settle, leaveSome, type Theme } from './theme.ts'

export const emails: readonly Theme[] = [
  {
    name: 'emails',
    begin: ({ rules, rng }) => void (rules.emails = rng.pick(['unique', 'unique', 'shared'])),
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, users } = company
      const ring = company.some(2 + rng.int(4)).map((id) => users.get(id)!)
      const first = ring[0]!.email
      for (const [place, user] of ring.entries())
        user.email = ring[place + 1]?.email ?? (rng.chance(0.5) ? first : `new${number}@example.org`)
      if (rng.chance(0.5)) company.hire({ email: rng.pick(ring).email?.toUpperCase() })
      if (rng.chance(0.5)) company.leave(rng.pick(ring).id)
      if (rng.chance(0.3)) for (const { id } of ring) draft.recheck.user.set(id, 'present')
      if (rng.chance(0.3)) draft.fates.set(rng.pick(ring).id, 'refused')
      if (rng.chance(0.3)) users.get(rng.pick(company.ids()))!.email = undefined
    },
  },
  {
    name: 'email-of-absent',
    begin({ rules, rng }) {
      rules.grace = {
        ...rules.grace,
        deleteAfter: { user: rng.pick([{ ms: 20 * HOUR }, { ms: 30 * HOUR }]) },
      }
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const [gone] = leaveSome(company, 1)
      if (gone === undefined) return
      company.hire({ email: `mail${gone.slice(1)}@example.org` })
      if (company.rng.chance(0.3)) company.rules.policy = company.rng.pick(['mirror', 'upsert'])
    },
  },
  {
    name: 'busy-owner',
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng, users } = company
      const [a = '', b = ''] = company.ids()
      const [owner, taker] = [users.get(a)!, users.get(b)!]
      if (number === 1) {
        taker.email = owner.email
        owner.email = `moved${rng.int(9)}@example.org`
      }
      if (rng.chance(0.7)) draft.fates.set(a, 'busy')
      draft.ahead = HOUR
    },
    isQuiet: true,
  },
  {
    name: 'rejected-email',
    begin: (company) => limit(company, 'users', { maxUpdates: 0 }),
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
      const [a = '', b = '', c = ''] = company.ids()
      const [one, two, three] = [company.users.get(a)!, company.users.get(b)!, company.users.get(c)!]
      if (number === 1) {
        two.email = one.email
        one.email = three.email
        three.email = 'free@example.org'
        two.name = 'Two'
        draft.decides.push({ does: 'reject' })
      } else
        company.rules.limits = {
          ...company.rules.limits,
          users: { ...company.rules.limits.users, maxUpdates: null },
        }
      if (number > 2 && company.rng.chance(0.3)) company.leave(a)
      draft.ahead = HOUR
    },
    isQuiet: true,
  },
]
