import { MINUTE } from '../../company.ts'
import { grow, limit, type Theme } from '../theme.ts'
import { script, NOTHING, change } from './script.ts'

export const limits: readonly Theme[] = [
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
  script('ids-are-renumbered', ({ rules }) => void (rules.limits = { ...rules.limits, maxMovedIds: 2 }), [
    NOTHING,
    ({ users }) => {
      const moved = ['u0', 'u1', 'u2', 'u3'].map((id) => users.get(id)!)
      const values = moved.map(({ name, email }) => ({ name, email }))
      for (const [place, user] of moved.entries()) Object.assign(user, values.at(place - 1))
    },
    NOTHING,
  ]),
  script('excluded-and-absent', () => undefined, [
    NOTHING,
    ({ rules }, draft) => {
      rules.entries = { users: { exclude: ['u0'] } }
      draft.hidden.user.add('u0')
    },
    (_company, draft) => void draft.hidden.user.add('u0'),
    NOTHING,
  ]),
  script('empty-directory', () => undefined, [
    NOTHING,
    (_company, draft) => void draft.listing.empty.push('user'),
    NOTHING,
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
