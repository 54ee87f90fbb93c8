import type { Proposal } from '../../../source/ldap/discover/propose.ts'
import { cut, digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { checkNotEmpty } from './check.ts'
import { type Init, warnUnasked } from './context.ts'
import type { Check } from './prompts.ts'

export type Expression = string | string[]

export interface Mapping {
  readonly external_id: string
  readonly email?: Expression
  readonly name?: Expression
  readonly employee_id?: Expression
}

type Field = 'email' | 'name' | 'employee_id'

const TYPED = ' (typed)'

export const MAPPING_FLAGS = ['--map-id', '--map-email', '--map-name', '--map-employee-id'].flatMap(
  (flag) => [flag, flag + TYPED],
)

const QUESTIONS: Readonly<
  Record<Field, { readonly flag: string; readonly message: string; readonly what: string }>
> = {
  email: { flag: '--map-email', message: 'E-mail address from:', what: 'the e-mail address' },
  name: { flag: '--map-name', message: 'Full name from:', what: 'the name' },
  employee_id: { flag: '--map-employee-id', message: 'Employee id from:', what: 'the employee id' },
}

const OTHER = '\0other'
const NONE = '\0none'

interface FieldQuestion {
  readonly field: Field
  readonly given: string | undefined
  readonly proposals: readonly Proposal[]
  readonly of: number
}

export async function askFields(
  init: Init,
  external_id: string,
  fields: readonly FieldQuestion[],
): Promise<Mapping> {
  let map: Mapping = { external_id }
  for (const question of fields) {
    const value = await askField(init, question)
    if (value !== undefined) map = { ...map, [question.field]: value }
  }
  return map
}

/** `undefined` where the field is not wanted. An employee id is asked for only where there may be one. */
async function askField(
  init: Init,
  { field, given, proposals, of }: FieldQuestion,
): Promise<Expression | undefined> {
  const { answers } = init
  const { flag, message, what } = QUESTIONS[field]
  if (given === '' || (given === undefined && field === 'employee_id' && proposals.length === 0))
    return undefined
  if (given === undefined && proposals.length === 0)
    warnUnasked(init, `Nothing was found that ${what} could come from; name it with ${flag}`)
  const chosen = await answers.choose<string>({
    flag,
    given,
    what,
    message,
    choices: [
      ...proposals.map((proposal) => ({
        value: proposal.expression === given ? given : JSON.stringify(proposal.expression),
        name: inWords(proposal, of),
      })),
      ...(given === undefined || proposals.some(({ expression }) => expression === given)
        ? []
        : [{ value: given, name: `${printable(given)}  (as ${flag} says)` }]),
      { value: NONE, name: 'Nothing: leave it out' },
      { value: OTHER, name: 'Something else: a name, a template or an expression' },
    ],
  })
  if (chosen === NONE) return undefined
  if (chosen === OTHER) return typed(answers, flag, what)
  return chosen === given ? chosen : (JSON.parse(chosen) as Expression)
}

/** Quotes around a template are YAML's, which the configuration writes itself. */
async function typed(answers: Init['answers'], flag: string, what: string): Promise<string> {
  const text = await answers.text({
    flag: flag + TYPED,
    given: undefined,
    what,
    message: 'Such as mail, or {givenName} {sn}, or = lower(mail):',
    check: (value) => checkNotEmpty(value) ?? checkExpression(value),
  })
  return /^"([^"]+)"$/.exec(text)?.[1] ?? text
}

/** No attribute name ends like this. */
export const checkExpression: Check = (value) =>
  /^\w+\(.*\)$/.test(value) ? `must begin with =, as every expression: = ${value}` : undefined

/** `cn  (1,875 of 2,488; 47 like "Roth, Björn")` */
function inWords({ expression, words, entries, odd }: Proposal, of: number): string {
  const how = words ?? [expression].flat().join(', else ')
  const share = entries === of ? `all ${digits(of)}` : `${digits(entries)} of ${digits(of)}`
  const like = (odd?.entries ?? 0) === 0 ? '' : `; ${digits(odd!.entries)} like "${cut(odd!.example)}"`
  return printable(`${how}  (${share}${like})`)
}

const ID_QUESTION = {
  flag: '--map-id',
  what: 'the id',
  message: 'The id, which never changes and is never given to somebody else, from:',
}

/**
 * The first proposal is the best. A `certain` one is not asked about; a `doubtful` one is never taken unseen, because a
 * wrong id later makes every user a new one.
 */
export async function askId(
  { answers, options }: Init,
  proposals: readonly string[],
  howSure: 'certain' | 'likely' | 'doubtful',
): Promise<string> {
  const { mapId: given } = options
  const { flag } = ID_QUESTION
  const [first] = proposals
  if (howSure === 'certain' && first !== undefined && given === undefined) return first
  const chosen =
    proposals.length === 0
      ? OTHER
      : await answers.choose<string>({
          ...ID_QUESTION,
          given,
          choices: [
            ...proposals.map((name) => ({ value: name, name: printable(name) })),
            { value: OTHER, name: 'Something else' },
          ],
          hasProposal: howSure === 'likely',
        })
  if (chosen !== OTHER) return chosen
  return answers.text({ ...ID_QUESTION, flag: flag + TYPED, given: options.mapId, check: checkNotEmpty })
}
