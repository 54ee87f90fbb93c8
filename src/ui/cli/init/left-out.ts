import type { Marks } from '../../../source/ldap/discover/marks.ts'
import { amount, digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { hang } from '../../../base/terminal/wrap.ts'
import { type Init, isAsked, warnUnasked } from './context.ts'
import type { Choice } from './prompts.ts'
import type { ReachedServer } from './server.ts'
import { askNarrower, both } from './which.ts'

const TICKED = '--users-filter (left out)'

export const LEFT_OUT_FLAGS: readonly string[] = [TICKED]

const OTHERS = '\0others'

const OF_WINDOWS = '(isCriticalSystemObject=TRUE)'

/** Accounts of Active Directory that have expired; `check` does not report them. */
const EXPIRED = '(&(accountExpires>=1)(accountExpires<=now(filetime)))'

export async function askLeftOut(
  init: Init,
  { server, facts }: ReachedServer,
  { bases, filter }: { readonly bases: readonly string[]; readonly filter: string },
): Promise<string> {
  const { answers, steps, place } = init
  const isActiveDirectory = facts.vendor === 'active-directory'
  const marks = await steps.discoverMarks(server, { vendor: facts.vendor, bases, filter }, place())
  const usual = isActiveDirectory ? [OF_WINDOWS] : []
  tellMarks(init, marks, usual)
  const ticked = await answers.chooseSeveral({
    flag: TICKED,
    what: 'who is left out',
    message: 'Who is left out? (Enter without a mark: nobody)',
    choices: choicesOf(marks, usual),
    proposed: usual,
    mayBeNone: true,
  })
  const others = ticked.includes(OTHERS)
    ? await askNarrower(init, {
        flag: '--users-filter',
        given: undefined,
        what: 'who is left out',
        message: `Who else is left out? (an LDAP filter such as ${isActiveDirectory ? EXPIRED : '(employeeType=former)'})`,
        proposed: '',
      })
    : undefined
  const all = [...ticked.filter((each) => each !== OTHERS), ...(others === undefined ? [] : [others])]
  if (all.length === 0) return filter
  return both(filter, `(!${all.length === 1 ? all[0] : `(|${all.join('')})`})`)
}

function choicesOf({ few }: Marks, usual: readonly string[]): readonly Choice<string>[] {
  const width = Math.max(0, ...few.map(({ attribute }) => attribute.length))
  const ofMarks = few.flatMap(({ attribute, values }) =>
    values.map(({ text, entries, filter }) => ({
      value: filter,
      name: `${attribute.padEnd(width)}  ${printable(text)}  (${amount(entries, 'entry')})`,
    })),
  )
  const isUsual = (filter: string) => usual.some((each) => each.toLowerCase() === filter.toLowerCase())
  return [
    ...usual.map((filter) => ({
      value: filter,
      name: `Accounts of Windows itself, such as Guest: ${filter}`,
    })),
    ...ofMarks.filter(({ value }) => !isUsual(value)),
    { value: OTHERS, name: 'Others, by an LDAP filter' },
  ]
}

/** Without a terminal: prints which accounts could be left out. */
function tellMarks(init: Init, { few, many }: Marks, usual: readonly string[]): void {
  const { say, columns } = init
  if (many.length > 0)
    say(...hang('  ', `Marks with too many values to show them: ${many.join(', ')}`, columns))
  if (isAsked(init)) return
  for (const { attribute, values } of few) {
    const texts = values.map(({ text, entries }) => `${printable(text)} (${digits(entries)})`)
    say(...hang(`    ${attribute}  `, texts.join(', '), columns))
  }
  const names = [...few.map(({ attribute }) => attribute), ...many]
  const whom = usual.length === 0 ? 'Nobody is' : 'Only the accounts of Windows itself are'
  if (names.length > 0)
    warnUnasked(init, `${whom} left out, whatever ${names.join(', ')} say; name a filter with --users-filter`)
}
