import { type Company, type Draft, HOUR } from '../../company.ts'
import type { Theme } from '../theme.ts'
import { type Act, script, NOTHING, change, hideFirst, lastGroup } from './script.ts'

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

export const servers: readonly Theme[] = [
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
  script(
    'members-of-a-doubted-server',
    (company) => (onServer(company), void company.found(['u0', 'u1', 'u2'])),
    [
      NOTHING,
      (company, draft) => {
        draft.server = { ...company.server(), position: undefined }
        lastGroup(company).lists[0]!.users = ['u1', 'u3']
      },
      NOTHING,
    ],
  ),
  script('one-of-several-servers', onServer, [
    ...[0, 1, 2].map((): Act => (company, draft) => {
      draft.server = { ...company.server(), position: undefined, addresses: 2 }
      draft.ahead = 25 * HOUR
    }),
    (company, draft) => {
      draft.server = { ...company.server(), position: undefined, addresses: 2 }
      hideFirst(company, draft)
    },
    (company, draft) => {
      draft.server = { ...company.server(), position: undefined, addresses: 2 }
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
