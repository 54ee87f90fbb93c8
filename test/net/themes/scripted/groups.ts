import type { Company, Draft } from '../../company.ts'
import { grow, hideContainer, type Theme } from '../theme.ts'
import { type Act, script, NOTHING, hideFirst, lastGroup } from './script.ts'

function inContainer(company: Company): void {
  for (let left = 6; left > 0; left -= 1) company.hire({ container: 'ou=7,dc=x' })
  grow(company, 14)
}

function hideOu(shown: number): Act {
  return (company, draft) => {
    const hidden = hideContainer(company, draft, 'ou=7,dc=x')
    for (const id of hidden.slice(0, shown)) draft.hidden.user.delete(id)
  }
}

export const containers: readonly Theme[] = [
  script('ou-comes-back-slowly', inContainer, [NOTHING, hideOu(0), hideOu(1), hideOu(1), hideOu(3)]),
  script('ou-left-the-filter', inContainer, [
    NOTHING,
    (company, draft) => {
      hideOu(0)(company, draft)
      for (const id of draft.hidden.user) draft.recheck.user.set(id, 'left-filter')
    },
    NOTHING,
  ]),
  script('ou-of-a-crashed-run', inContainer, [
    NOTHING,
    (company, draft) => {
      hideOu(0)(company, draft)
      company.hire()
      draft.ends = company.rng.pick(['crash-after-keep', 'crash-in-apply'])
    },
    hideOu(1),
    hideOu(1),
  ]),
  script(
    'ou-and-shrunk-source',
    (company) => {
      inContainer(company)
      company.rules.limits = { ...company.rules.limits, maxSourceShrinkPercent: 20 }
    },
    [
      NOTHING,
      (company, draft) => {
        hideOu(0)(company, draft)
        hideFirst(company, draft)
      },
      hideOu(0),
      NOTHING,
    ],
  ),
  script(
    'ou-of-a-group',
    (company) => {
      inContainer(company)
      const ids = company.ids().filter((id) => company.users.get(id)!.container === 'ou=7,dc=x')
      company.found(ids)
    },
    [
      NOTHING,
      hideOu(0),
      (company) => {
        const group = [...company.groups.values()].at(-1)!
        group.lists[0]!.users = group.lists[0]!.users.slice(0, 2)
      },
      NOTHING,
    ],
  ),
]

/** An inner group of six, an outer one around it, and perhaps one around that. */
function nest(company: Company): void {
  grow(company, 14)
  const inner = company.found(company.ids().slice(0, 6))
  inner.name = 'Inner'
  const outer = company.found(company.ids().slice(6, 9))
  outer.lists[0]!.nested = [inner.dn]
  if (company.rng.chance(0.3)) company.found([]).lists[0]!.nested = [outer.dn]
}

function innerId({ groups }: Company): string {
  return [...groups.values()].find(({ name }) => name === 'Inner')!.id
}

const hideInner: Act = (company, draft) => void draft.hidden.group.add(innerId(company))

/** The inner group is hidden, and the servers show its new DN in the list of the outer one. */
function renameInner(company: Company, draft: Draft): void {
  hideInner(company, draft)
  const { dn } = company.groups.get(innerId(company))!
  for (const { lists } of company.groups.values()) {
    if (!lists[0]!.nested.includes(dn)) continue
    lists[0]!.nested = []
    lists[0]!.unresolved = ['cn=renamed,ou=groups,dc=x']
  }
}

function renamedActs(first: Act): readonly Act[] {
  const rename: Act = (company, draft) => {
    renameInner(company, draft)
    first(company, draft)
  }
  return [NOTHING, rename, hideInner, hideInner]
}

export const nesting: readonly Theme[] = [
  script('nested-hidden', nest, [
    NOTHING,
    (company, draft) => {
      hideInner(company, draft)
      if (company.rng.chance(0.5)) draft.unreadable = 1
    },
    hideInner,
    (company, draft) => {
      hideInner(company, draft)
      draft.decides.push({ does: company.rng.pick(['approve', 'reject']) })
    },
    NOTHING,
  ]),
  script(
    'nested-renamed',
    nest,
    renamedActs((_company, draft) => void (draft.unreadable = 1)),
  ),
  script(
    'nested-renamed-to-another',
    nest,
    renamedActs(
      (company, draft) =>
        void draft.idsAt.set('cn=renamed,ou=groups,dc=x', [company.rng.pick(['u1', 'u2', 'else'])]),
    ),
  ),
  script(
    'nested-renamed-and-rejected',
    nest,
    renamedActs((_company, draft) => void draft.decides.push({ does: 'reject' })),
  ),
  script('nested-emptied', nest, [
    NOTHING,
    (company, draft) => void draft.silentGroups.add(innerId(company)),
    (company, draft) => {
      draft.silentGroups.add(innerId(company))
      if (company.rng.chance(0.5)) draft.decides.push({ does: 'approve' })
    },
    NOTHING,
  ]),
]

function listTwice(company: Company): void {
  grow(company, 16)
  company.attributes = ['member', 'uniqueMember']
  const group = company.found(company.ids().slice(0, 3))
  group.lists.push({
    attribute: 'uniqueMember',
    users: company.ids().slice(3, 10),
    nested: [],
    unresolved: [],
  })
}

const silence: Act = (_company, draft) => void draft.silentAttributes.add('uniqueMember')

export const memberLists: readonly Theme[] = [
  script('silent-and-unreadable', listTwice, [
    NOTHING,
    (company, draft) => {
      silence(company, draft)
      draft.unreadable = 1
    },
    silence,
    silence,
  ]),
  script('silent-and-excluded', listTwice, [
    NOTHING,
    (company, draft) => {
      silence(company, draft)
      company.rules.entries = { groups: { exclude: ['g*'] } }
    },
    (company, draft) => {
      silence(company, draft)
      company.rules.entries = {}
    },
    silence,
  ]),
  script('partly-back', (company) => (grow(company, 12), void company.found(company.ids().slice(0, 7))), [
    NOTHING,
    (company, draft) => void draft.silentGroups.add(lastGroup(company).id),
    (company, draft) => {
      lastGroup(company).lists[0]!.users.splice(2)
      draft.unreadable = 1
    },
    NOTHING,
    (_company, draft) => void draft.decides.push({ does: 'approve' }),
    NOTHING,
  ]),
  script('proved-empty', (company) => (grow(company, 12), void company.found(company.ids().slice(0, 7))), [
    NOTHING,
    (company, draft) => {
      draft.silentGroups.add(lastGroup(company).id)
      draft.losses.provedEmpty.add(lastGroup(company).id)
    },
    NOTHING,
  ]),
  script(
    'blocked-group-is-hidden',
    (company) => (grow(company, 12), void company.found(company.ids().slice(0, 7))),
    [
      NOTHING,
      (company, draft) => void draft.silentGroups.add(lastGroup(company).id),
      (company, draft) => void draft.hidden.group.add(lastGroup(company).id),
      NOTHING,
    ],
  ),
  script(
    'members-leave-unproved',
    (company) => {
      company.found(['u0', 'u1', 'u2'])
      company.found(['u1', 'u2', 'u3'])
    },
    [
      NOTHING,
      (company, draft) => {
        for (const { id, lists } of [...company.groups.values()].slice(-2)) {
          lists[0]!.users.pop()
          draft.losses.unproved.set(id, 'all')
        }
      },
      NOTHING,
    ],
  ),
  script('small-group-that-is-changing', (company) => void company.found(['u0', 'u1']), [
    NOTHING,
    (company, draft) => {
      const { id } = lastGroup(company)
      draft.silentGroups.add(id)
      draft.losses.unproved.set(id, 'all')
    },
    NOTHING,
  ]),
  script(
    'upsert-and-members',
    (company) => {
      company.rules.policy = 'upsert'
      company.found(['u0', 'u1', 'u2'])
    },
    [NOTHING, (company) => void (lastGroup(company).lists[0]!.users = ['u0', 'u3']), NOTHING],
  ),
  script('membership-off', ({ rules }) => void (rules.membership = 'off'), [
    NOTHING,
    (company) => company.found(['u0', 'u1']),
    (company) => void (lastGroup(company).lists[0]!.users = ['u1', 'u2']),
  ]),
  script('unlisted-member', (company) => void company.found(['u0', 'u1', 'u2']), [
    NOTHING,
    (company, draft) => {
      const { id, lists } = lastGroup(company)
      draft.listing.hiddenUsers.add('u0')
      lists[0]!.users = ['u0', 'u1']
      // The run does not create the user.
      draft.only = { users: [], groups: [id] }
    },
    NOTHING,
  ]),
]
