import { type Company, type Draft, HOUR, MINUTE } from '../company.ts'
import type { Fate, OtherWrite, Part } from '../story.ts'
import { grow, hideContainer, limit, type Theme } from './theme.ts'

type Act = (company: Company, draft: Draft) => void

/** A theme whose steps are written down, for protections that matter only after certain runs. */
function script(name: string, begin: (company: Company) => void, acts: readonly Act[]): Theme {
  return {
    name,
    begin,
    step: (company, draft, number) => {
      draft.ahead = HOUR
      acts[number]?.(company, draft)
    },
    isQuiet: true,
    steps: acts.length,
  }
}

const NOTHING: Act = () => undefined

/** From its second step on, guards hold updates and deletes of users. */
function heldScript(name: string, [first, second = NOTHING, ...others]: readonly [Act, ...Act[]]): Theme {
  const held: Act = (company, draft) => {
    hold(company)
    second(company, draft)
  }
  return script(name, () => undefined, [first, held, ...others])
}

function hold(company: Company): void {
  limit(company, 'users', { maxDeletes: 0, maxUpdates: 0 })
}

function letGo(company: Company): void {
  limit(company, 'users', { maxDeletes: 50, maxUpdates: null })
}

function change(
  company: Company,
  id: string,
  values: { readonly name?: string; readonly email?: string },
): void {
  Object.assign(company.users.get(id)!, values)
}

function inGrace(company: Company): void {
  const { rules } = company
  rules.grace = { ...rules.grace, deleteAfter: { user: { runs: 3 }, group: { runs: 3 } } }
  company.hasServer = true
}

const hideFirst: Act = (_company, draft) => void draft.hidden.user.add('u0')

/** The absence of u0 begins, then something happens to a run, and then the grace period ends or not. */
function graceScript(name: string, between: Act, end: readonly Act[] = [hideFirst, hideFirst]): Theme {
  const act: Act = (company, draft) => {
    hideFirst(company, draft)
    between(company, draft)
  }
  return script(`grace-${name}`, inGrace, [NOTHING, hideFirst, act, ...end])
}

const grace: readonly Theme[] = [
  graceScript('seen-again', (_company, draft) => void draft.recheck.user.set('u0', 'present')),
  graceScript('single-entries', (_company, draft) => void (draft.only = { users: ['u0'], groups: [] })),
  graceScript('older-server', (company, draft) => void (draft.server = company.server(50))),
  graceScript('plan-only', (_company, draft) => void (draft.mode = 'plan')),
  graceScript(
    'held',
    (company, draft) => {
      hold(company)
      change(company, 'u1', { name: 'Held' })
      draft.decides.push({ does: 'approve' })
    },
    [hideFirst, hideFirst, hideFirst],
  ),
  graceScript('failed', (company, draft) => {
    company.hire()
    company.hire()
    draft.ends = 'error-in-apply'
  }),
  graceScript('crashed', (company, draft) => {
    company.hire()
    draft.ends = company.rng.pick(['crash-after-keep', 'crash-in-apply'])
  }),
  script('grace-approved', inGrace, [
    (_company, draft) => {
      draft.others.push({ does: 'put-user', user: { id: 'stranger', name: 'Stranger', email: null } })
      draft.decides.push({ does: 'approve' })
    },
    NOTHING,
    NOTHING,
  ]),
  script(
    'grace-of-many',
    (company) => {
      inGrace(company)
      company.rules.grace = { ...company.rules.grace, deleteAfter: { user: { runs: 3 } } }
      grow(company, 12)
      company.found(['u0', 'u1', 'u2', 'u3'])
      company.rules.limits = { ...company.rules.limits, maxSourceShrinkPercent: 10 }
    },
    [
      NOTHING,
      (_company, draft) => {
        for (const id of ['u0', 'u1', 'u2']) draft.hidden.user.add(id)
        draft.decides.push({ does: 'approve' })
      },
      (_company, draft) => {
        for (const id of ['u0', 'u1', 'u2']) draft.hidden.user.add(id)
      },
      (company, draft) => {
        for (const id of ['u0', 'u1', 'u2']) draft.hidden.user.add(id)
        company.groups.get('g0')!.lists[0]!.users = []
        for (const { lists } of company.groups.values()) lists[0]!.users.splice(0, 2)
      },
    ],
  ),
  script(
    'grace-and-configuration',
    (company) => {
      inGrace(company)
      grow(company, 12)
    },
    [
      NOTHING,
      (company, draft) => {
        company.rules.options = { 'users.filter': 'b' }
        for (const id of ['u0', 'u1', 'u2', 'u3', 'u4']) draft.hidden.user.add(id)
        draft.decides.push({ does: company.rng.pick(['approve', 'reject']) })
      },
      NOTHING,
    ],
  ),
]

const rejections: readonly Theme[] = [
  heldScript('rejected-and-skipped', [
    NOTHING,
    (company, draft) => {
      change(company, 'u1', { name: 'Rejected' })
      draft.decides.push({ does: 'reject' })
    },
    (company, draft) => {
      letGo(company)
      draft.skipped.set('u1', 'disabled')
    },
    NOTHING,
  ]),
  heldScript('rejected-in-another-form', [
    (company) => {
      change(company, 'u1', { email: 'one@example.org' })
      change(company, 'u2', { email: 'two@example.org' })
    },
    (company, draft) => {
      change(company, 'u1', { name: 'Rejected', email: 'other@example.org' })
      draft.decides.push({ does: 'reject' })
    },
    (company, draft) => {
      letGo(company)
      company.users.get('u2')!.email = undefined
      draft.others.push({ does: 'put-user', user: { id: 'u2', name: 'Two', email: 'other@example.org' } })
    },
    (_company, draft) =>
      void draft.others.push({
        does: 'put-user',
        user: { id: 'u2', name: 'Two', email: 'free@example.org' },
      }),
    NOTHING,
  ]),
  script('rejected-and-quarantined', () => undefined, [
    (company) => change(company, 'u1', { name: 'Was', email: 'was@example.org' }),
    (company, draft) => {
      change(company, 'u1', { name: 'Refused', email: 'rejected@example.org' })
      draft.fates.set('u1', 'refused')
    },
    (company, draft) => {
      hold(company)
      change(company, 'u1', { name: 'Rejected' })
      draft.decides.push({ does: 'reject' })
    },
    (company) => {
      letGo(company)
      change(company, 'u1', { name: 'Refused' })
    },
    (company) => change(company, 'u1', { name: 'Was' }),
  ]),
  script('rejected-members', (company) => void company.found(['u0', 'u1', 'u2']), [
    NOTHING,
    (company, draft) => {
      limit(company, 'memberships', { maxUpdates: 0, maxDeletes: 0 })
      ;[...company.groups.values()].at(-1)!.lists[0]!.users = ['u1', 'u2', 'u3']
      draft.decides.push({ does: 'reject' })
    },
    (company) => {
      limit(company, 'memberships', { maxUpdates: null, maxDeletes: 50 })
      ;[...company.groups.values()].at(-1)!.lists[0]!.users = ['u1', 'u3', 'u4']
    },
    (company) => void ([...company.groups.values()].at(-1)!.lists[0]!.users = ['u1', 'u2', 'u3']),
    NOTHING,
  ]),
  heldScript('rejected-and-short-list', [
    (company) => grow(company, 12),
    (company, draft) => {
      company.leave('u0')
      draft.decides.push({ does: 'reject' })
    },
    (company, draft) => {
      letGo(company)
      for (const id of ['u0', 'u1', 'u2', 'u3', 'u4']) draft.listing.hiddenUsers.add(id)
    },
    NOTHING,
  ]),
  heldScript('approved-once', [
    (company) => void (company.hasServer = false),
    (company, draft) => {
      hideFirst(company, draft)
      change(company, 'u1', { name: 'Left out' })
      draft.decides.push({ does: 'approve-part', part: { names: ['deletes'] } })
    },
    hideFirst,
    (_company, draft) => void (draft.only = { users: ['u0'], groups: [] }),
    (company, draft) => {
      hideFirst(company, draft)
      draft.only = { users: ['u0'], groups: [] }
    },
  ]),
  heldScript('approved-and-failed', [
    (company) => void (company.hasServer = false),
    (company, draft) => {
      hideFirst(company, draft)
      draft.hidden.user.add('u1')
      draft.decides.push({ does: 'approve' })
    },
    (company, draft) => {
      hideFirst(company, draft)
      draft.hidden.user.add('u1')
      draft.ends = 'error-in-apply'
    },
    (_company, draft) => void (draft.only = { users: ['u0', 'u1'], groups: [] }),
    (company, draft) => {
      hideFirst(company, draft)
      draft.hidden.user.add('u1')
      draft.only = { users: ['u0', 'u1'], groups: [] }
    },
  ]),
  script('approved-by-name', () => undefined, [
    NOTHING,
    (company, draft) => {
      limit(company, 'users', { maxDeletes: 0, maxDeletePercent: 1, maxDeletesPerDay: 0 })
      company.leave('u0')
      draft.decides.push({ does: 'approve', only: company.rng.int(3) })
      if (company.rng.chance(0.5)) draft.decides.push({ does: 'approve', only: company.rng.int(3) })
    },
    (company, draft) => void draft.decides.push({ does: 'approve', only: company.rng.int(3) }),
    NOTHING,
  ]),
  heldScript('hold-ends', [
    NOTHING,
    (company) => change(company, 'u1', { name: 'Held' }),
    (company, draft) => {
      change(company, 'u1', { name: 'First1 Last1' })
      draft.decides.push({ does: 'approve' })
    },
    (company, draft) => {
      change(company, 'u1', { name: 'Held' })
      draft.decides.push({ does: company.rng.pick(['approve', 'reject']) })
    },
    NOTHING,
  ]),
]

const parts: readonly Theme[] = [
  script('part-with-needs', () => undefined, [
    (company) => {
      change(company, 'u0', { email: 'a@example.org' })
      change(company, 'u1', { email: 'b@example.org' })
    },
    (company, draft) => {
      limit(company, 'users', { maxDeletes: 0 })
      company.leave('u3')
      change(company, 'u0', { email: 'free@example.org' })
      change(company, 'u1', { email: 'a@example.org' })
      draft.decides.push({ does: 'approve-part', part: { ids: ['u1'] } })
    },
    NOTHING,
  ]),
  heldScript('part-with-group', [
    NOTHING,
    (company, draft) => {
      change(company, 'u2', { name: 'Left out' })
      company.found(['u0', 'u1'])
      draft.decides.push({ does: 'approve-part', part: { names: ['members'] } })
    },
    NOTHING,
  ]),
  heldScript('part-with-held', [
    NOTHING,
    (company, draft) => {
      change(company, 'u0', { name: 'Approved' })
      change(company, 'u2', { name: 'Left out' })
      draft.decides.push({ does: 'approve-part', part: { kinds: ['user'], names: ['updates'] } })
    },
    (company) => change(company, 'u1', { name: 'New' }),
    NOTHING,
  ]),
]

/** u0 has an e-mail that u1 wants, and is about to get another one; something keeps u0 from it. */
function claimScript(name: string, begin: (company: Company) => void, more: Act = NOTHING): Theme {
  return script(`email-claim-${name}`, begin, [
    (company) => {
      change(company, 'u0', { email: 'held@example.org' })
      change(company, 'u1', { email: 'one@example.org' })
      change(company, 'u2', { email: 'two@example.org' })
      change(company, 'u3', { email: 'three@example.org' })
    },
    (company, draft) => {
      change(company, 'u0', { email: 'new@example.org' })
      change(company, 'u1', { email: 'held@example.org' })
      change(company, 'u2', { email: 'new@example.org' })
      more(company, draft)
    },
    (company) => change(company, 'u3', { email: 'new@example.org' }),
  ])
}

const claims: readonly Theme[] = [
  claimScript(
    'excluded',
    () => undefined,
    ({ rules }) => void (rules.entries = { users: { exclude: ['u0'] } }),
  ),
  claimScript(
    'other-domain',
    ({ rules, rng }) => {
      rules.allowedDomains = ['example.org']
      rules.dropBadEmails = rng.chance(0.5)
    },
    (company) => change(company, 'u0', { email: 'new@other.org' }),
  ),
  claimScript(
    'policy',
    () => undefined,
    (company) => {
      company.rules.policy = 'create-only'
      company.hire({ email: 'held@example.org' })
      company.hire({ email: 'new@example.org' })
    },
  ),
  claimScript(
    'single-entries',
    () => undefined,
    (_company, draft) => void (draft.only = { users: ['u1', 'u2'], groups: [] }),
  ),
  claimScript(
    'doubted-server',
    (company) => void (company.hasServer = true),
    (company, draft) => {
      draft.server = { ...company.server(), database: 'dc=x 2' }
      company.hire({ email: 'held@example.org' })
    },
  ),
]

function forgetful(ids: readonly string[], fate: Fate): Act {
  return (_company, draft) => {
    for (const id of ids) draft.fates.set(id, fate)
  }
}

const writes: readonly Theme[] = [
  script('quarantine-ends', () => undefined, [
    (company) => change(company, 'u0', { name: 'Was' }),
    (company, draft) => {
      change(company, 'u0', { name: 'Refused' })
      draft.fates.set('u0', 'refused')
    },
    (company) => change(company, 'u0', { name: 'Was' }),
    (company) => change(company, 'u0', { name: 'Refused' }),
  ]),
  script('quarantined-email', () => undefined, [
    (company) => change(company, 'u1', { email: 'one@example.org' }),
    (company, draft) => {
      change(company, 'u1', { email: 'wanted@example.org' })
      draft.fates.set('u1', 'refused')
    },
    (company, draft) => {
      company.users.get('u2')!.email = undefined
      draft.others.push({ does: 'put-user', user: { id: 'u2', name: null, email: 'wanted@example.org' } })
    },
    (_company, draft) =>
      void draft.others.push({ does: 'put-user', user: { id: 'u2', name: null, email: 'free@example.org' } }),
    NOTHING,
  ]),
  script('busy-owner-of-an-email', () => undefined, [
    (company) => change(company, 'u0', { email: 'held@example.org' }),
    (company, draft) => {
      change(company, 'u0', { email: 'new@example.org' })
      change(company, 'u1', { email: 'held@example.org' })
      draft.fates.set('u0', 'busy')
    },
    (_company, draft) => void draft.fates.set('u0', 'busy'),
    NOTHING,
  ]),
  script('quarantined-delete', (company) => void company.found(['u0', 'u1', 'u2']), [
    NOTHING,
    (company, draft) => {
      company.users.delete('u0')
      for (const { lists } of company.groups.values())
        lists[0]!.users = lists[0]!.users.filter((id) => id !== 'u0')
      draft.fates.set('u0', 'refused')
    },
    (_company, draft) => {
      for (const group of ['g0', 'g1', 'g2', 'g3', 'g4', 'g5'])
        draft.others.push({ does: 'add-member', group, user: 'u0' })
    },
    NOTHING,
  ]),
  script('changed-back-by-others', () => undefined, [
    (company) => change(company, 'u0', { name: 'Was', email: 'was@example.org' }),
    (company) => change(company, 'u0', { name: 'Ours' }),
    NOTHING,
    changeBack,
    changeBack,
    NOTHING,
  ]),
  script('never-kept', () => undefined, [
    (company) => change(company, 'u0', { name: 'Was' }),
    (company, draft) => {
      change(company, 'u0', { name: 'Cut' })
      forgetful(['u0'], 'forgotten')(company, draft)
    },
    forgetful(['u0'], 'forgotten'),
    forgetful(['u0'], 'forgotten'),
    (_company, draft) => void (draft.ahead = 30 * HOUR),
    forgetful(['u0'], 'forgotten'),
  ]),
  script('undone-and-made-again', () => undefined, [
    (company) => change(company, 'u0', { name: 'Was' }),
    (company) => change(company, 'u0', { name: 'Ours' }),
    (_company, draft) => void (draft.undo = { back: 1, part: {} }),
    forgetful(['u0'], 'forgotten'),
    NOTHING,
    NOTHING,
  ]),
]

function changeBack(_company: Company, draft: Draft): void {
  draft.others.push({ does: 'put-user', user: { id: 'u0', name: 'Was', email: 'was@example.org' } })
}

function onServer(company: Company): void {
  company.hasServer = true
  company.rules.grace = { ...company.rules.grace, deleteAfter: {} }
}

/** A server with other changes shows a new user, whom the next one does not know yet. */
function additionsScript(name: string, ends: Draft['ends']): Theme {
  return script(name, onServer, [
    NOTHING,
    (company, draft) => {
      draft.server = { ...company.server(), position: { s2: '000007' } }
      company.hire({ id: 'new', email: 'new@example.org' })
      hideFirst(company, draft)
      draft.ends = ends
    },
    (_company, draft) => void draft.hidden.user.add('new'),
    (company, draft) => {
      draft.server = { ...company.server(), position: { ...company.server().position, s2: '000008' } }
      draft.hidden.user.add('new')
    },
  ])
}

const servers: readonly Theme[] = [
  script('caught-up-during-the-read', onServer, [
    NOTHING,
    (company, draft) => {
      draft.server = { ...company.server(), positionAtStart: { s1: '000050' } }
      hideFirst(company, draft)
      change(company, 'u1', { name: 'Older' })
    },
    NOTHING,
  ]),
  additionsScript('additions', 'well'),
  additionsScript('additions-of-a-crashed-run', 'crash-in-apply'),
  script('other-database', onServer, [
    NOTHING,
    (company, draft) => {
      draft.server = { ...company.server(), database: 'dc=x 2' }
      hideFirst(company, draft)
      change(company, 'u1', { name: 'Other' })
      draft.ahead = 25 * HOUR
    },
    (company, draft) => {
      draft.server = { ...company.server(), database: 'dc=x 2' }
      hideFirst(company, draft)
      draft.decides.push({ does: company.rng.pick(['approve', 'reject']) })
    },
    (company, draft) => {
      draft.server = { ...company.server(), database: 'dc=x 2' }
      hideFirst(company, draft)
    },
  ]),
  script('missing-origin', onServer, [
    (company, draft) =>
      void (draft.server = { ...company.server(), position: { s1: '000100', s2: '000100' } }),
    (company, draft) => {
      draft.server = { ...company.server(), position: company.rng.pick([{ s1: '000200' }, undefined]) }
      hideFirst(company, draft)
    },
    (company, draft) => {
      draft.server = { ...company.server(), position: { s1: '000200', s2: '000050' } }
      hideFirst(company, draft)
    },
  ]),
  script('held-on-a-doubted-server', onServer, [
    NOTHING,
    ...[13 * HOUR, 13 * HOUR, HOUR, HOUR].map((ahead): Act => (company, draft) => {
      draft.server = { ...company.server(), database: 'dc=x 2' }
      company.rules.limits = { ...company.rules.limits, minSourceUsers: 99 }
      company.hire()
      draft.ahead = ahead
    }),
  ]),
  script('older-server-recheck', onServer, [
    NOTHING,
    (company, draft) => {
      draft.server = company.server(50)
      for (const id of ['u0', 'u1', 'u2', 'u3']) {
        draft.hidden.user.add(id)
        draft.recheck.user.set(id, 'present')
      }
    },
    NOTHING,
  ]),
]

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

const containers: readonly Theme[] = [
  script('ou-comes-back-slowly', inContainer, [NOTHING, hideOu(0), hideOu(1), hideOu(1), hideOu(3)]),
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

const nesting: readonly Theme[] = [
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
        void draft.idsAt.set('cn=renamed,ou=groups,dc=x', [
          company.rng.pick(['u1', 'else', innerId(company)]),
        ]),
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

function renamedActs(first: Act): readonly Act[] {
  const rename: Act = (company, draft) => {
    renameInner(company, draft)
    first(company, draft)
  }
  return [NOTHING, rename, hideInner, hideInner]
}

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

function lastGroup({ groups }: Company) {
  return [...groups.values()].at(-1)!
}

const memberLists: readonly Theme[] = [
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
      if (company.rng.chance(0.3)) draft.losses.unproved.set(lastGroup(company).id, 'all')
    },
    NOTHING,
  ]),
  script('unlisted-member', (company) => void company.found(['u0', 'u1', 'u2']), [
    NOTHING,
    (company, draft) => {
      draft.listing.hiddenUsers.add('u0')
      lastGroup(company).lists[0]!.users = ['u0', 'u1']
    },
    NOTHING,
  ]),
]

const limits: readonly Theme[] = [
  script('many-updates', (company) => grow(company, 26), [
    NOTHING,
    (company) => {
      limit(company, 'users', { maxUpdatePercent: 40 })
      for (const id of company.ids().slice(0, 22)) change(company, id, { name: 'Other' })
    },
    NOTHING,
  ]),
  script('limit-of-a-day-is-lowered', (company) => grow(company, 12), [
    NOTHING,
    (company) => ['u0', 'u1', 'u2'].forEach((id) => company.leave(id)),
    (company) => {
      limit(company, 'users', { maxDeletesPerDay: 1 })
      company.hire()
    },
    (company) => company.leave('u3'),
  ]),
  script('groups-are-not-read-any-more', () => undefined, [
    NOTHING,
    (company) => void (company.covers = { groups: false, members: false }),
    (company) => company.leave('u0'),
  ]),
  script(
    'other-ids',
    (company) => {
      company.users.clear()
      company.idOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
      grow(company, 8)
    },
    [
      (_company, draft) => {
        draft.others.push({ does: 'put-user', user: { id: '4711', name: 'Admin', email: null } })
        draft.decides.push({ does: 'approve' })
        draft.ahead = MINUTE
      },
      NOTHING,
      NOTHING,
    ],
  ),
]

const undoes =
  (back: number, part: Part = {}): Act =>
  (_company, draft) => {
    draft.undo = { back, part }
    draft.decides.push({ does: 'approve' })
  }

function byHand(...others: readonly OtherWrite[]): Act {
  return (company, draft) => {
    draft.others.push(...others)
    undoes(1)(company, draft)
  }
}

const HAND = { name: 'By hand', email: 'hand@example.org' } as const

function hireKnown(company: Company): void {
  company.hire({ id: 'x0', name: 'Known', email: 'x0@example.org' })
}

const undone: readonly Theme[] = [
  script('undo-changed-value', grow8, [
    (company) => change(company, 'u0', { name: 'Was', email: 'was@example.org' }),
    (company) => {
      change(company, 'u0', { name: 'Ours' })
      change(company, 'u1', { name: 'Ours too' })
    },
    byHand({ does: 'put-user', user: { id: 'u0', ...HAND } }),
    NOTHING,
  ]),
  script('undo-changed-create', grow8, [
    NOTHING,
    hireKnown,
    byHand({ does: 'put-user', user: { id: 'x0', ...HAND } }),
    NOTHING,
  ]),
  script('undo-create-in-other-group', grow8, [
    NOTHING,
    (company) => {
      hireKnown(company)
      lastGroup(company).lists[0]!.users.push('x0')
    },
    byHand({ does: 'put-group', group: { id: 'theirs', name: 'Theirs', members: ['x0'] } }),
    NOTHING,
  ]),
  script('undo-group-with-others', grow8, [
    NOTHING,
    (company) => void company.found(['u0']),
    (company, draft) =>
      byHand({ does: 'add-member', group: lastGroup(company).id, user: 'u1' })(company, draft),
    NOTHING,
  ]),
  script('undo-changed-delete', grow8, [
    (company) => change(company, 'u0', { name: 'Was', email: 'was@example.org' }),
    (company) => company.leave('u0'),
    byHand({ does: 'put-user', user: { id: 'u0', name: 'Was', email: null } }),
    undoes(2),
    NOTHING,
  ]),
  script('undo-of-a-reused-id', grow8, [
    hireKnown,
    (company) => lastGroup(company).lists[0]!.users.push('x0'),
    (company) => company.leave('x0'),
    (company) => {
      company.hire({ id: 'x0', name: 'Someone', email: 'other@example.org' })
      lastGroup(company).lists[0]!.users.push('x0')
    },
    undoes(3),
    NOTHING,
  ]),
  script('undo-after-a-later-create', grow8, [
    NOTHING,
    hireKnown,
    (company) => company.leave('x0'),
    hireKnown,
    undoes(3),
    NOTHING,
  ]),
  script('undo-of-an-undo', grow8, [NOTHING, hireKnown, undoes(1), NOTHING, undoes(1), undoes(3)]),
  script('undo-of-what-was-there', grow8, [
    NOTHING,
    (company, draft) => {
      hireKnown(company)
      draft.others.push({ does: 'put-user', user: { id: 'x0', name: 'Known', email: 'x0@example.org' } })
      draft.listing.hiddenUsers.add('x0')
    },
    undoes(1),
    NOTHING,
  ]),
  script('undo-with-shared-ids', grow8, [
    NOTHING,
    (company) => {
      hireKnown(company)
      change(company, 'u0', { name: 'Ours' })
    },
    (company, draft) => {
      draft.listing.shared.push(company.rng.pick(['x0', 'u0']), 'u1')
      undoes(1)(company, draft)
    },
    NOTHING,
  ]),
  script('undo-of-memberships', (company) => void company.found(['u0', 'u1', 'u2']), [
    NOTHING,
    (company) => company.leave('u0'),
    (company, draft) => undoes(1, { names: ['members'] })(company, draft),
    (company, draft) => undoes(1, { ids: [lastGroup(company).id] })(company, draft),
    NOTHING,
  ]),
  script('undo-where-nothing-is-deleted', ({ rules }) => void (rules.policy = 'upsert'), [
    NOTHING,
    hireKnown,
    undoes(1),
    NOTHING,
  ]),
  script('undo-with-approvals-of-a-sync', (company) => limit(company, 'users', { maxDeletes: 0 }), [
    NOTHING,
    hireKnown,
    (company, draft) => {
      company.leave('x0')
      draft.decides.push({ does: 'approve' })
      draft.mode = 'sync'
      draft.ends = 'crash-before-keep'
    },
    (_company, draft) => void (draft.undo = { back: 1, part: {} }),
    (_company, draft) => void (draft.undo = { back: 1, part: {} }),
  ]),
]

function grow8(company: Company): void {
  company.hasServer = false
  grow(company, 8)
}

export const scripts: readonly Theme[] = [
  ...grace,
  ...rejections,
  ...parts,
  ...claims,
  ...writes,
  ...servers,
  ...containers,
  ...nesting,
  ...memberLists,
  ...limits,
  ...undone,
]
