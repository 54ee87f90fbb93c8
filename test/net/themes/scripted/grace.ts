import { type Company, HOUR } from '../../company.ts'
import { grow, type Theme } from '../theme.ts'
import { type Act, script, NOTHING, hold, change, hideFirst } from './script.ts'

function inGrace(company: Company): void {
  const { rules } = company
  rules.grace = { ...rules.grace, deleteAfter: { user: { runs: 3 }, group: { runs: 3 } } }
  company.hasServer = true
}

/** The absence of u0 begins, then something happens to a run, and then the grace period ends or not. */
function graceScript(name: string, between: Act, end: readonly Act[] = [hideFirst, hideFirst]): Theme {
  const act: Act = (company, draft) => {
    hideFirst(company, draft)
    between(company, draft)
  }
  return script(`grace-${name}`, inGrace, [NOTHING, hideFirst, act, ...end])
}

export const grace: readonly Theme[] = [
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
  script(
    'grace-of-hours',
    ({ rules }) => void (rules.grace = { ...rules.grace, deleteAfter: { user: { ms: 3 * HOUR } } }),
    [NOTHING, hideFirst, hideFirst, hideFirst, hideFirst],
  ),
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
