import { settle, hideContainer, grow, type Theme } from './theme.ts'

export const groups: readonly Theme[] = [
  {
    name: 'container',
    begin(company) {
      for (const container of ['ou=0,dc=x', 'ou=1,dc=x', 'ou=5,ou=1,dc=x'])
        for (let left = 6; left > 0; left -= 1) company.hire({ container })
      company.found(company.ids().slice(0, 8))
    },
    step(company, draft, number) {
      if (number === 0) return settle(draft, number)
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
      if (rng.chance(0.3)) for (const id of company.some(2)) draft.listing.hiddenUsers.add(id)
    },
  },
]
