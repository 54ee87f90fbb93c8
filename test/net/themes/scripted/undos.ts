import type { Company } from '../../company.ts'
import type { OtherWrite, Part } from '../../story.ts'
import { grow, limit, type Theme } from '../theme.ts'
import { type Act, script, NOTHING, change, lastGroup } from './script.ts'

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

function grow8(company: Company): void {
  company.hasServer = false
  grow(company, 8)
}

export const undone: readonly Theme[] = [
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
