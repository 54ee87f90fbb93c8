import { type Company, DAY, type Draft, HOUR, MINUTE } from './company.ts'
import type { Fate, KindLimits, Part, SkipCode } from './story.ts'

/**
 * What a world is about: one protection, or a few that meet. Chance alone seldom reaches most protections, so each world
 * has its theme in turn.
 */
export interface Theme {
  readonly name: string
  /** Before the service is filled. */
  readonly begin?: (company: Company) => void
  /** Makes one step; the first one has the number 0. */
  readonly step: (company: Company, draft: Draft, number: number) => void
  /** Nothing else happens in its worlds. */
  readonly isQuiet?: boolean
}

const PARTS: readonly Part[] = [
  { kinds: ['user'] },
  { kinds: ['group'] },
  { names: ['creates'] },
  { names: ['updates'] },
  { names: ['deletes'] },
  { names: ['members'] },
  { names: ['creates', 'members'], kinds: ['group'] },
]

function limit(
  company: Company,
  kind: 'users' | 'groups' | 'memberships',
  limits: Partial<KindLimits>,
): void {
  const { rules } = company
  rules.limits = { ...rules.limits, [kind]: { ...rules.limits[kind], ...limits } }
}

/** Ends the first steps without a hold, so that the later ones have a last good run. */
function settle(draft: Draft, number: number): void {
  if (number <= 1) draft.decides.push({ does: 'approve' })
}

function hideContainer({ users }: Company, draft: Draft, container: string): readonly string[] {
  const ids = [...users.values()].filter((user) => user.container === container).map(({ id }) => id)
  for (const id of ids) draft.hidden.user.add(id)
  return ids
}

function grow(company: Company, users: number): void {
  while (company.users.size < users) company.hire()
}

function leaveSome(company: Company, count: number): readonly string[] {
  const leaving = company.some(Math.min(count, company.users.size - 3))
  for (const id of leaving) company.leave(id)
  return leaving
}

const reads: readonly Theme[] = [
  {
    name: 'recheck-finds-many',
    step({ rng, users }, draft, number) {
      settle(draft, number)
      if (number === 0 || rng.chance(0.3)) return
      for (const id of rng.some([...users.keys()], 2 + rng.int(6))) {
        draft.hidden.user.add(id)
        draft.recheck.user.set(id, 'present')
      }
      if (draft.server !== undefined && rng.chance(0.2))
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

const lists: readonly Theme[] = [
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
      if (company.rng.chance(0.5)) company.leave(first)
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

const emails: readonly Theme[] = [
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
      rules.grace = { ...rules.grace, deleteAfter: { user: rng.pick([{ runs: 3 }, { ms: 3 * DAY }]) } }
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

const times: readonly Theme[] = [
  {
    name: 'grace',
    begin({ rules, rng }) {
      const after = rng.pick([{ runs: 2 }, { runs: 1 }, { ms: 20 * HOUR }])
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

const servers: readonly Theme[] = [
  {
    name: 'older-server',
    begin(company) {
      company.hasServer = true
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      if (number === 0 || rng.chance(0.3)) return
      draft.server = company.server(50)
      const [gone = ''] = company.ids()
      draft.hidden.user.add(gone)
      company.hire()
      draft.ahead = rng.pick([HOUR, 13 * HOUR, 25 * HOUR])
      if (rng.chance(0.5)) draft.decides.push({ does: 'approve' })
    },
  },
  {
    name: 'other-server',
    begin(company) {
      company.hasServer = true
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      const server = company.server()
      const s2 = String(number).padStart(6, '0')
      draft.server = {
        ...server,
        position: rng.pick([
          { s1: '000101', s2 },
          { ...server.position, s2: '000000' },
          { s1: '000090', s2, s3: '1' },
          undefined,
        ]),
        database: rng.pick(['dc=x 1', 'dc=x 1', 'dc=x 2']),
        ...(rng.chance(0.3) && { positionAtStart: { s1: '000099', s2 } }),
      }
      if (number === 0) draft.server = server
      const [gone = '', other = ''] = company.ids()
      if (rng.chance(0.5)) draft.hidden.user.add(gone)
      company.hire()
      company.users.get(other)!.name = `Other${number}`
      for (const { lists: all } of company.groups.values())
        if (rng.chance(0.5)) all[0]!.users = company.some(4)
      draft.ahead = rng.pick([HOUR, 13 * HOUR, 25 * HOUR])
      if (rng.chance(0.2)) draft.ends = 'crash-in-apply'
      if (rng.chance(0.5)) draft.decides.push({ does: 'approve' })
    },
  },
]

const groups: readonly Theme[] = [
  {
    name: 'container',
    begin(company) {
      for (const container of ['ou=0,dc=x', 'ou=1,dc=x', 'ou=5,ou=1,dc=x'])
        for (let left = 6; left > 0; left -= 1) company.hire({ container })
      company.found(company.ids().slice(0, 8))
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      const hidden = rng.chance(0.7) ? hideContainer(company, draft, 'ou=1,dc=x') : []
      const inner = rng.chance(0.3) ? hideContainer(company, draft, 'ou=5,ou=1,dc=x') : []
      const all = [...hidden, ...inner]
      if (rng.chance(0.3))
        for (const id of all) draft.recheck.user.set(id, rng.pick(['left-filter', 'left-filter', 'disabled']))
      if (rng.chance(0.3)) for (const id of rng.some(all, 1)) draft.hidden.user.delete(id)
      if (rng.chance(0.2)) for (const id of rng.some(all, 2)) company.leave(id)
      if (rng.chance(0.2)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.15)) draft.ends = 'crash-after-keep'
      if (rng.chance(0.15)) draft.only = { users: all.slice(0, 2), groups: [] }
    },
  },
  {
    name: 'emptied-group',
    begin(company) {
      grow(company, 12)
      company.found(company.some(7))
      company.found(company.some(5))
      company.found(company.some(3))
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      const ids = [...company.groups.keys()].slice(-3)
      for (const id of ids) if (rng.chance(0.5)) draft.silentGroups.add(id)
      for (const id of ids) if (rng.chance(0.2)) draft.losses.unproved.set(id, 'all')
      for (const id of ids) if (rng.chance(0.2)) draft.losses.provedEmpty.add(id)
      if (rng.chance(0.2)) draft.hidden.group.add(rng.pick(ids))
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.15)) draft.unreadable = 1
      if (rng.chance(0.15)) draft.ends = 'crash-after-keep'
    },
  },
  {
    name: 'no-members',
    begin(company) {
      grow(company, 8)
      company.found(company.some(2))
      company.found(company.some(4))
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0 || company.rng.chance(0.3)) return
      draft.silentAttributes.add('member')
      if (company.rng.chance(0.3)) draft.decides.push({ does: company.rng.pick(['approve', 'reject']) })
    },
  },
  {
    name: 'nested',
    begin(company) {
      grow(company, 14)
      const [inner, other, outside] = [
        company.found(company.some(6)),
        company.found(company.some(5)),
        company.found(company.some(5), false),
      ]
      const outer = company.found(company.some(2))
      outer.lists[0]!.nested = [inner.dn, other.dn, outside.dn]
      if (company.rng.chance(0.5)) company.found([]).lists[0]!.nested = [outer.dn]
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      const outer = [...company.groups.values()].find(({ lists: all }) => all[0]!.nested.length > 0)
      if (outer === undefined) return
      const dn = rng.pick(outer.lists[0]!.nested)
      const inner = [...company.groups.values()].find((group) => group.dn === dn)
      if (inner === undefined || rng.chance(0.2)) return
      draft.hidden.group.add(inner.id)
      const renamed = `cn=new${number},ou=groups,dc=x`
      if (rng.chance(0.6)) {
        // The servers rename it in lists, too, or take it out of them.
        const list = outer.lists[0]!
        list.unresolved = rng.chance(0.7) ? [renamed] : []
        list.nested = list.nested.filter((each) => each !== dn)
        if (rng.chance(0.3)) draft.idsAt.set(renamed, [rng.pick([inner.id, 'u1'])])
      }
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.15)) draft.unreadable = 1
    },
    isQuiet: true,
  },
  {
    name: 'member-lists',
    begin(company) {
      grow(company, 16)
      company.attributes = ['member', 'uniqueMember']
      for (const group of [company.found(company.some(6)), company.found(company.some(2))])
        group.lists.push({ attribute: 'uniqueMember', users: company.some(6), nested: [], unresolved: [] })
      const around = company.found(company.some(1))
      around.lists[0]!.nested = [[...company.groups.values()].at(-2)!.dn]
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      if (rng.chance(0.4)) draft.silentAttributes.add('uniqueMember')
      else if (rng.chance(0.5)) company.groups.get([...company.groups.keys()].at(-3)!)!.lists.splice(1, 1)
      if (rng.chance(0.2)) {
        company.attributes = ['member', 'other']
        draft.silentAttributes.add('uniqueMember')
      }
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      if (rng.chance(0.2)) draft.unreadable = 1
    },
  },
  {
    name: 'member-removals',
    begin(company) {
      grow(company, 10)
      company.found(company.some(5))
    },
    step(company, draft, number) {
      settle(draft, number)
      if (number === 0) return
      const { rng } = company
      for (const { id, lists: all } of company.groups.values()) {
        if (!rng.chance(0.6)) continue
        const lost = rng.some(all[0]!.users, 3)
        all[0]!.users = all[0]!.users.filter((user) => !lost.includes(user))
        if (rng.chance(0.4)) for (const user of lost.slice(0, 1)) draft.losses.renamed.add(user)
        if (rng.chance(0.5)) draft.losses.unproved.set(id, rng.chance(0.5) ? 'all' : lost.slice(1))
      }
      for (const { lists: all } of company.groups.values())
        if (rng.chance(0.4)) all[0]!.users.push(...company.some(1))
      if (rng.chance(0.3)) draft.decides.push({ does: rng.pick(['approve', 'reject']) })
      for (const id of company.some(1)) if (rng.chance(0.3)) draft.listing.hiddenUsers.add(id)
    },
  },
]

const guards: readonly Theme[] = [
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
      if (number === 0 || company.rng.chance(0.3)) return
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

const decisions: readonly Theme[] = [
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
      if (number === 1 || rng.chance(0.4)) changeMuch(company)
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

const undos: readonly Theme[] = [
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
    begin: (company) => void grow(company, 8),
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
    begin: (company) => void grow(company, 8),
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
      if (number <= 1) {
        if (number === 1) company.found(['u1', 'u2'])
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

export const THEMES: readonly Theme[] = [
  ...reads,
  ...lists,
  ...emails,
  ...times,
  ...servers,
  ...groups,
  ...guards,
  ...decisions,
  ...undos,
]
