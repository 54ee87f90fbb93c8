import type { EmailTally, RawDirectory } from '../../compose/init.ts'
import { digits } from '../../directory/wording.ts'
import { printable } from '../../printable.ts'
import { hang } from '../render/wrap.ts'
import { type Init, warnUnasked } from './context.ts'
import type { Choice } from './prompts.ts'

const DOMAINS = '--allowed-domain'
const CHOSEN = '--allowed-domain (chosen)'
const BAD = '--bad-emails'

export const EMAIL_FLAGS: readonly string[] = [DOMAINS, CHOSEN, BAD]

/** What can be asked again. */
export const EMAIL_TOPIC: Choice<readonly string[]> = {
  value: EMAIL_FLAGS,
  name: 'Which e-mails are written',
}

/** How many bad addresses are named. */
const EXAMPLES = 3

/** Shows what services often refuse. */
export function tellEmails({ emails: { found }, steps, say, columns }: Init): void {
  if (found === undefined) return
  const { bad, domains } = found
  if (bad.length > 0) {
    const examples = bad.slice(0, EXAMPLES).map((email) => `"${printable(email)}"`)
    say(...hang('  e-mail     ', `${noAddresses(bad.length)}, such as ${examples.join(', ')}`, columns))
  }
  if (domains.length > 1) say(...hang('  domains    ', printable(steps.domainsInWords(domains)), columns))
}

function noAddresses(count: number): string {
  return count === 1 ? '1 e-mail is no address' : `${digits(count)} e-mails are no addresses`
}

/** Asks which e-mails the service takes, and what becomes of people with others. Nobody is asked where all may be good. */
export async function askEmails(init: Init): Promise<Pick<RawDirectory, 'allowedDomains' | 'dropBadEmails'>> {
  const { bad, domains } = init.emails.found ?? { bad: [], domains: [] }
  const allowed = await askDomains(init, domains)
  const others = allowed === undefined ? [] : domains.filter(([domain]) => !isAmong(allowed, domain))
  const otherUsers = others.reduce((sum, [, users]) => sum + users, 0)
  const isDropped = await askBad(init, { bad: bad.length, others: otherUsers })
  return {
    ...(allowed !== undefined && { allowedDomains: [...allowed] }),
    ...(isDropped && { dropBadEmails: true }),
  }
}

function isAmong(allowed: readonly string[], domain: string): boolean {
  return allowed.some((each) => each.normalize('NFC').toLowerCase() === domain)
}

/** `undefined`: every domain. */
async function askDomains(
  { answers, options: { allowedDomain: given } }: Init,
  domains: EmailTally['domains'],
): Promise<readonly string[] | undefined> {
  if (given !== undefined && answers.isOpen(DOMAINS)) return given
  if (domains.length < 2) return given
  const which = await answers.choose<'all' | 'some'>({
    flag: DOMAINS,
    given: undefined,
    what: 'the e-mail domains',
    message: `E-mails are of ${digits(domains.length)} domains, and some services take only those of the company. Yours?`,
    choices: [
      { value: 'all', name: 'Takes all of them, or I do not know' },
      { value: 'some', name: 'Takes only some, which are chosen next' },
    ],
  })
  if (which === 'all') return undefined
  return answers.chooseSeveral({
    flag: CHOSEN,
    what: 'the e-mail domains',
    message: 'Which domains does the service take?',
    choices: domains.map(([domain, users]) => ({
      value: domain,
      name: `${printable(domain)}  (${digits(users)} ${users === 1 ? 'person' : 'people'})`,
      short: printable(domain),
    })),
    proposed: given ?? domains.slice(0, 1).map(([domain]) => domain),
  })
}

/** Whether bad e-mails are dropped. */
async function askBad(
  init: Init,
  { bad, others }: { readonly bad: number; readonly others: number },
): Promise<boolean> {
  const { answers, options } = init
  const { badEmails: given } = options
  const count = bad + others
  if (count === 0) return given === 'drop'
  const who = count === 1 ? '1 person has' : `${digits(count)} people have`
  const kinds = [...(bad > 0 ? ['is no address'] : []), ...(others > 0 ? ['is of another domain'] : [])]
  const have = `${who} an e-mail that ${kinds.join(' or ')}`
  if (given === undefined) warnUnasked(init, `${have}; it is not written, unless you give ${BAD} keep`)
  const how = await answers.choose<'drop' | 'keep'>({
    flag: BAD,
    given,
    what: 'bad e-mails',
    message: `${have}. What is written for them?`,
    choices: [
      { value: 'drop', name: 'All but this e-mail' },
      { value: 'keep', name: KEPT[bad === 0 ? 'others' : others === 0 ? 'bad' : 'both'] },
    ],
  })
  return how === 'drop'
}

const KEPT = {
  others: 'Nothing: they are left out',
  bad: 'This e-mail, too: where the service refuses it, they are left out',
  both: 'Nothing for another domain; what is no address is tried, and the service may refuse it',
}
