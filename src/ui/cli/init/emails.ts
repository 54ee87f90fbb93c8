import type { EmailTally } from '../../../source/email-tally.ts'
import type { RawDirectory, RawSource } from '../../../operations/init/draft.ts'
import { digits } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import { renderCheckItem } from '../render/check.ts'
import { hang } from '../../../base/terminal/wrap.ts'
import { type Init, isAsked, tellLeft, tellSlow, warnUnasked } from './context.ts'
import type { Choice } from './prompts.ts'

const DOMAINS = '--allowed-domain'
const CHOSEN = '--allowed-domain (chosen)'
const BAD = '--bad-emails'

export const EMAIL_FLAGS: readonly string[] = [DOMAINS, CHOSEN, BAD]

export const EMAIL_TOPIC: Choice<readonly string[]> = {
  value: EMAIL_FLAGS,
  name: 'Which e-mails are written',
}

/** Further domains are mostly those of customers and suppliers. */
const MOST_TRIED = 50

const EXAMPLES = 3

export function tellEmails({ emails: { found }, steps, say, columns }: Init): void {
  if (found === undefined) return
  const { bad, domains } = found
  const base = { type: 'line', sync: 'init', part: 'source' } as const
  if (bad.length > 0) {
    const examples = bad.slice(0, EXAMPLES).map((email) => `"${email}"`)
    const detail = `${noAddresses(bad.length)}, such as ${examples.join(', ')}`
    say(...renderCheckItem({ ...base, label: 'e-mail', level: 'warn', detail }, columns))
  }
  if (domains.length < 2) return
  const detail = steps.domainsInWords(domains)
  say(...renderCheckItem({ ...base, label: 'domains', level: 'info', detail }, columns))
}

function noAddresses(count: number): string {
  return count === 1 ? '1 e-mail is no address' : `${digits(count)} e-mails are no addresses`
}

export type EmailAnswers = Pick<RawDirectory, 'allowedDomains' | 'dropBadEmails'>

/** Asks which domains the service accepts and what to do with other e-mails. Asks nothing where all may be valid. */
export async function askEmails(
  init: Init,
  source: RawSource,
  directory: RawDirectory,
): Promise<EmailAnswers> {
  const found = init.emails.found ?? { bad: [], domains: [] }
  const allowed = await askDomains(init, directory, found.domains)
  const { bad, domains } = await countWith(init, source, allowed, found)
  const others = othersOf(domains, allowed)
  const otherUsers = others.reduce((sum, [, users]) => sum + users, 0)
  if (allowed !== undefined && others.length === domains.length)
    requireSomebody(init, allowed, bad.length + otherUsers)
  const isDropped = await askBad(init, allowed, { bad: bad.length, others: otherUsers })
  return {
    ...(allowed !== undefined && { allowedDomains: [...allowed] }),
    ...(isDropped && { dropBadEmails: true }),
  }
}

/** With allowed domains, a run may choose another e-mail of the same user. */
async function countWith(
  { steps, say, place }: Init,
  source: RawSource,
  allowed: readonly string[] | undefined,
  found: EmailTally,
): Promise<EmailTally> {
  const mayDiffer = found.bad.length > 0 || othersOf(found.domains, allowed).length > 0
  if (allowed === undefined || !mayDiffer) return found
  say('Reading the e-mails again, as a run with these domains would …')
  return steps.countEmails(source, allowed, place())
}

function othersOf(
  domains: EmailTally['domains'],
  allowed: readonly string[] | undefined,
): EmailTally['domains'] {
  return allowed === undefined ? [] : domains.filter(([domain]) => !isAmong(allowed, domain))
}

/** Without a terminal, a wrong domain would empty all e-mails. */
function requireSomebody(init: Init, allowed: readonly string[], people: number): void {
  if (people === 0) return
  const all = people === 1 ? 'The only person' : `All ${digits(people)} people`
  const nobody =
    `${all} with an e-mail would lose it or be left out: none of these e-mails is an address in ` +
    `${allowed.map(printable).join(' or ')} (${DOMAINS}).`
  if (!isAsked(init)) throw new DirsyncdError('usage', nobody)
  init.say(...hang('  warn  ', nobody, init.columns))
  init.warnings.unshift(nobody)
}

function isAmong(allowed: readonly string[], domain: string): boolean {
  return allowed.some((each) => each.normalize('NFC').toLowerCase() === domain)
}

/** `undefined`: every domain. */
async function askDomains(
  init: Init,
  directory: RawDirectory,
  domains: EmailTally['domains'],
): Promise<readonly string[] | undefined> {
  const { answers, options, rights, left } = init
  const { allowedDomain: given } = options
  if (given !== undefined && answers.isOpen(DOMAINS)) return given
  if (domains.length < 2) return given
  const mayFindOut = rights.mayWrite && left.length === 0 && domains.length <= MOST_TRIED
  const which = await answers.choose<'all' | 'some' | 'find-out'>({
    flag: DOMAINS,
    given: undefined,
    what: 'the e-mail domains',
    message: `E-mails are of ${digits(domains.length)} domains, and some services take only those of the company. Yours?`,
    choices: [
      { value: 'all', name: mayFindOut ? 'Takes all of them' : 'Takes all of them, or I do not know' },
      { value: 'some', name: 'Takes only some, which are chosen next' },
      ...(mayFindOut
        ? [
            {
              value: 'find-out' as const,
              name: 'Find out now: a user is made in this directory, gets an e-mail of each, and is deleted again',
              short: 'Find out now',
            },
          ]
        : []),
    ],
  })
  if (which === 'all') return undefined
  return which === 'some' ? chooseDomains(init, domains) : findOut(init, directory, domains)
}

function chooseDomains(
  { answers, options }: Init,
  domains: EmailTally['domains'],
): Promise<readonly string[]> {
  return answers.chooseSeveral({
    flag: CHOSEN,
    what: 'the e-mail domains',
    message: 'Which domains does the service take?',
    choices: domains.map(([domain, users]) => ({
      value: domain,
      name: `${printable(domain)}  (${digits(users)} ${users === 1 ? 'person' : 'people'})`,
      short: printable(domain),
    })),
    proposed: options.allowedDomain ?? domains.slice(0, 1).map(([domain]) => domain),
  })
}

async function findOut(
  init: Init,
  directory: RawDirectory,
  domains: EmailTally['domains'],
): Promise<readonly string[] | undefined> {
  const { steps, say, tell, warnings, place } = init
  const all = domains.map(([domain]) => domain)
  const { found, detail, left } = await tellSlow(init, steps.tryDomains(all, directory, place(), tell))
  tellLeft(init, left)
  if (found === undefined || found.length === 0) {
    const why = found === undefined ? detail : 'The service refused an e-mail of each of them.'
    const open = `Which domains the service takes could not be found out, so all are sent: ${why}`
    say(`  ${open}`)
    warnings.push(open)
    return undefined
  }
  const isAll = found.length === all.length
  say(`  The service takes ${isAll ? 'all of them' : `only ${found.map(printable).join(', ')}`}.`)
  return isAll ? undefined : found
}

async function askBad(
  init: Init,
  allowed: readonly string[] | undefined,
  { bad, others }: { readonly bad: number; readonly others: number },
): Promise<boolean> {
  const { answers, options } = init
  const { badEmails: given } = options
  const count = bad + others
  // Users with another e-mail may come later, so the proposal is written beside the domains.
  if (count === 0) return given === undefined ? allowed !== undefined : given === 'drop'
  const who = count === 1 ? '1 person has' : `${digits(count)} people have`
  const kinds = [...(bad > 0 ? ['is no address'] : []), ...(others > 0 ? ['is of another domain'] : [])]
  const have = `${who} an e-mail that ${kinds.join(' or ')}`
  const kept = allowed === undefined ? KEPT.tried : bad === 0 ? KEPT.others : KEPT.both
  if (given === undefined) warnUnasked(init, `${have}; it is not written, unless you give ${BAD} keep`)
  if (given === 'keep') warnUnasked(init, `${have}; ${kept}`)
  const how = await answers.choose<'drop' | 'keep'>({
    flag: BAD,
    given,
    what: 'bad e-mails',
    message: `${have}. What is written for them?`,
    choices: [
      { value: 'drop', name: 'All but this e-mail' },
      { value: 'keep', name: `${allowed === undefined ? 'This e-mail, too' : 'Nothing'}: ${kept}` },
    ],
  })
  return how === 'drop'
}

const KEPT = {
  tried: 'where the service refuses it, they are left out',
  others: 'they are left out',
  both: 'they are left out, unless the e-mail is in an allowed domain and the service takes it',
}
