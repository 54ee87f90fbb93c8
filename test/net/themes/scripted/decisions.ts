import { grow, limit, type Theme } from '../theme.ts'
import { script, NOTHING, heldScript, hold, letGo, change, hideFirst } from './script.ts'

export const rejections: readonly Theme[] = [
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
  heldScript('rejected-name-of-another-update', [
    (company) => change(company, 'u1', { name: 'Was', email: 'was@example.org' }),
    (company, draft) => {
      change(company, 'u1', { name: 'Rejected', email: 'rejected@example.org' })
      draft.decides.push({ does: 'reject' })
    },
    (company) => {
      letGo(company)
      change(company, 'u1', { email: 'other@example.org' })
    },
    NOTHING,
  ]),
  heldScript('rejected-delete-of-a-member', [
    (company) => {
      company.hasServer = false
      company.found(['u0', 'u1', 'u2'])
    },
    (company, draft) => {
      hideFirst(company, draft)
      draft.decides.push({ does: 'reject' })
    },
    hideFirst,
    hideFirst,
  ]),
  heldScript('approved-and-short-list', [
    (company) => {
      company.hasServer = false
      grow(company, 12)
    },
    (company, draft) => {
      hideFirst(company, draft)
      draft.decides.push({ does: 'approve' })
    },
    (company, draft) => {
      hideFirst(company, draft)
      for (const id of ['u1', 'u2', 'u3', 'u4', 'u5']) draft.listing.hiddenUsers.add(id)
    },
    (_company, draft) => void (draft.only = { users: ['u0'], groups: [] }),
    (company, draft) => {
      hideFirst(company, draft)
      draft.only = { users: ['u0'], groups: [] }
    },
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

export const parts: readonly Theme[] = [
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
