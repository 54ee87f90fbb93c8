import { type Proposal, proposalsOf, type Way } from './propose.ts'
import type { Tally } from './tally.ts'

const PRIMARY_ADDRESS =
  '= lower(first(first(values(proxyAddresses).filter(p, p.startsWith("SMTP:"))).after("SMTP:"), mail))'

const EMAILS: readonly Way[] = [
  { expression: 'mail', needs: [['mail']] },
  { expression: PRIMARY_ADDRESS, needs: [['proxyAddresses'], ['mail']] },
  { expression: ['mail', 'userPrincipalName'], needs: [['mail'], ['userPrincipalName']] },
  { expression: 'userPrincipalName', needs: [['userPrincipalName']] },
]

/** Names that need no escape in an expression. */
const PLAIN_DOMAIN = /^[a-z\d.-]+$/

/** Enough to show how another one is written. */
const MOST_PROPOSED = 3

/** Counts entries with addresses of several domains in `mail`, by domain. */
export class MailDomains {
  readonly #people = new Map<string, number>()

  add(mails: readonly string[]): void {
    const addresses = mails.filter((mail) => mail.includes('@'))
    const domains = new Set(addresses.map((mail) => mail.toLowerCase().trim().split('@').at(-1)!))
    if (domains.size < 2) return
    for (const domain of domains) this.#people.set(domain, (this.#people.get(domain) ?? 0) + 1)
  }

  /** Each domain as the preferred one; the most frequent comes first. */
  proposals(entries: number): readonly Proposal[] {
    return [...this.#people]
      .filter(([domain]) => PLAIN_DOMAIN.test(domain))
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MOST_PROPOSED)
      .map(([domain]) => ({
        expression: [`= first(values(mail).filter(m, lower(m).endsWith("@${domain}")))`, 'mail'],
        words: `mail, of several the one at ${domain}`,
        entries,
      }))
  }
}

/** A wrong address is worse than none: the first proposal is `mail` where any entry has it. */
export function emailProposals(tally: Tally, domains: MailDomains): readonly Proposal[] {
  return proposalsOf(tally, EMAILS).flatMap((way) =>
    way.expression === 'mail' ? [way, ...domains.proposals(way.entries)] : [way],
  )
}
