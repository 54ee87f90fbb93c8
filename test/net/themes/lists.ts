import { settle, leaveSome, type Theme } from './theme.ts'

export const lists: readonly Theme[] = [
  {
    name: 'exclude',
    begin(company) {
      const { rng, rules } = company
      rules.entries = {
        users: rng.pick([
          { exclude: ['u1*', { from: '*ou=1,*' }] },
          { include: ['u1*', 'u2', 'u3', 'u4'] },
          { include: [{ from: '*ou=0,*' }, 'u2'] },
        ]),
        groups: rng.pick([{}, { exclude: ['g0'] }, { include: ['g1', 'g2'] }]),
      }
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const [first = '', , third = ''] = company.ids()
      if (number === 1) for (const id of [first, 'u1', 'u6']) company.leave(id)
      const user = company.users.get(third)
      if (user !== undefined && company.rng.chance(0.5)) user.name = `Other${number}`
      const taken = company.rng.pick(company.ids())
      if (company.rng.chance(0.5))
        company.users.get(company.rng.pick(company.ids()))!.email = `mail${taken.slice(1)}@example.org`
      for (const { lists: all } of company.groups.values()) all[0]!.users = company.some(4)
    },
  },
  {
    name: 'protected',
    begin: ({ rules }) =>
      void (rules.entries = { users: { protected: ['u0', 'u2', 'u1*'] }, groups: { protected: ['g0'] } }),
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      for (const id of ['u0', 'u3', 'u10']) if (company.rng.chance(0.4)) company.leave(id)
      if (company.rng.chance(0.4)) company.close('g0')
      if (number > 2 && company.rng.chance(0.4)) draft.undo = { back: company.rng.pick([1, 2, 3]), part: {} }
    },
  },
  {
    name: 'policy',
    begin: ({ rules, rng }) => void (rules.policy = rng.pick(['upsert', 'create-only'])),
    step(company, draft, number) {
      settle(draft, number)
      leaveSome(company, company.rng.int(3))
      for (const { lists: all } of company.groups.values()) all[0]!.users = company.some(4)
      const [a = '', b = ''] = company.some(2)
      const [first, second] = [company.users.get(a), company.users.get(b)]
      if (first !== undefined && second !== undefined) first.email = second.email
      if (second !== undefined && company.rng.chance(0.5)) company.leave(second.id)
    },
  },
  {
    name: 'membership',
    begin: ({ rules, rng }) => void (rules.membership = rng.pick(['off', 'report'])),
    step(company, draft, number) {
      settle(draft, number)
      for (const { lists: all } of company.groups.values()) all[0]!.users = company.some(5)
      if (number > 1 && company.rng.chance(0.3)) draft.undo = { back: 1, part: {} }
      if (number > 2 && company.rng.chance(0.3)) company.rules.membership = 'write'
    },
  },
  {
    name: 'domains',
    begin({ rules, rng }) {
      rules.allowedDomains = ['example.org', 'EXAMPLE.net']
      rules.dropBadEmails = rng.chance(0.5)
    },
    step(company, draft, number) {
      settle(draft, number)
      const emails = [
        'ana@other.org',
        'bob@sub.example.org',
        'eve@notexample.org',
        'kim@Example.NET',
        'not an e-mail',
        undefined,
      ]
      for (const id of company.some(4)) company.users.get(id)!.email = company.rng.pick(emails)
      if (company.rng.chance(0.5)) company.hire({ email: company.rng.pick(emails) })
    },
  },
]
