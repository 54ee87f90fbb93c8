import type { Company } from '../../company.ts'
import type { Theme } from '../theme.ts'
import { type Act, script, NOTHING, change } from './script.ts'

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

export const claims: readonly Theme[] = [
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
  script(
    'bad-email-is-dropped',
    ({ rules }) => {
      rules.allowedDomains = ['example.org']
      rules.dropBadEmails = true
    },
    [NOTHING, (company) => change(company, 'u0', { name: 'Moved', email: 'moved@other.org' }), NOTHING],
  ),
  script('email-freed-by-a-later-user', () => undefined, [
    (company) => change(company, 'u5', { email: 'held@example.org' }),
    (company) => {
      change(company, 'u0', { name: 'Other' })
      change(company, 'u1', { email: 'held@example.org' })
      change(company, 'u5', { email: 'new@example.org' })
    },
    NOTHING,
  ]),
]
