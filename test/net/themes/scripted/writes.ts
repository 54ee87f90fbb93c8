import { type Company, type Draft, HOUR } from '../../company.ts'
import type { Fate } from '../../story.ts'
import type { Theme } from '../theme.ts'
import { type Act, script, NOTHING, change, hold, letGo } from './script.ts'

function forgetful(ids: readonly string[], fate: Fate): Act {
  return (_company, draft) => {
    for (const id of ids) draft.fates.set(id, fate)
  }
}

export const writes: readonly Theme[] = [
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
  script('never-kept-and-held', () => undefined, [
    (company) => change(company, 'u0', { name: 'Was' }),
    (company, draft) => {
      change(company, 'u0', { name: 'Cut' })
      forgetful(['u0'], 'forgotten')(company, draft)
    },
    forgetful(['u0'], 'forgotten'),
    forgetful(['u0'], 'forgotten'),
    (company) => {
      change(company, 'u0', { name: 'Was' })
      hold(company)
      change(company, 'u1', { name: 'Held' })
    },
    (company) => {
      change(company, 'u0', { name: 'Cut' })
      letGo(company)
    },
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
