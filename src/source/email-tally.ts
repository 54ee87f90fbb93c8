import { addressFault, emailDomain } from '../core/entries/normalize.ts'
import type { UserEntry } from '../core/entries/entry.ts'
import { digits } from '../base/wording.ts'

export interface EmailTally {
  /** No valid addresses; personal data. */
  readonly bad: readonly string[]
  /** Of the others, with the number of users; the largest first. */
  readonly domains: readonly (readonly [domain: string, users: number])[]
}

/** As in a run, an e-mail in an allowed domain may be of any word. */
export function tallyEmails(users: Iterable<UserEntry>, allowedDomains: readonly string[] = []): EmailTally {
  const bad: string[] = []
  const counts = new Map<string, number>()
  for (const { email } of users) {
    if (email === undefined) continue
    const domain = emailDomain(email)
    if (addressFault(email, allowedDomains) === 'no-address') bad.push(email)
    else counts.set(domain, (counts.get(domain) ?? 0) + 1)
  }
  return { bad, domains: [...counts].toSorted(([, a], [, b]) => b - a) }
}

const NAMED = 8

/** `example.org (1,230), example.net (27) and 3 more` */
export function domainsInWords(domains: EmailTally['domains']): string {
  const named = domains.slice(0, NAMED).map(([domain, users]) => `${domain} (${digits(users)})`)
  const more = domains.length > NAMED ? ` and ${digits(domains.length - NAMED)} more` : ''
  return `${named.join(', ')}${more}`
}
