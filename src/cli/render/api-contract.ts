import type { ContractStep } from '../../compose/api-contract.ts'
import { amount, digits } from '../../directory/wording.ts'
import { printable } from '../../printable.ts'

type Results = Extract<ContractStep, { step: 'endpoint' }>['results']
type Result = Results[number]
type Difference = Result['differences'][number]

/** How many differences of one endpoint, and examples of one note, are shown. */
const SHOWN = 10
const EXAMPLES = 3

/** The tested service, and the head of its table. */
export function renderContractBegin(step: Extract<ContractStep, { step: 'begin' }>): string[] {
  const { sync, baseUrl, organizationId, directoryId, writes, paths } = step
  const mode = writes ? 'reading and writing' : 'reading only'
  return [
    `${sync}: ${printable(baseUrl)}, organization ${organizationId}, directory ${directoryId}, ${mode}`,
    '',
    ` #  ${'endpoint'.padEnd(pathWidth(paths) + 8)}  result       cases`,
  ]
}

export function pathWidth(paths: readonly string[]): number {
  return Math.max(0, ...paths.map((path) => path.length))
}

/** One line for an endpoint, and one below it for each difference. */
export function renderContractEndpoint(results: Results, width: number): string[] {
  const [first] = results
  if (first === undefined) return []
  const differing = results.filter(({ state }) => state === 'differs')
  const tried = results.filter(({ state }) => state !== 'not-checked')
  const name = `${first.method.padEnd(6)}  ${first.path.padEnd(width)}`
  const cases = casesOf(tried.length, differing.length)
  const why = first.reason === undefined ? '' : `${tried.length === 0 ? '' : '; '}${first.reason}`
  const lines = differing.flatMap(({ probe, differences }) =>
    differences.map((difference) => `      ${printable(probe)}: ${differenceText(difference)}`),
  )
  const more =
    lines.length > SHOWN ? [`      … and ${digits(lines.length - SHOWN)} more, --json has them`] : []
  return [
    `${String(first.number).padStart(2)}  ${name}  ${resultOf(results).padEnd(11)}  ${printable(cases + why)}`,
    ...lines.slice(0, SHOWN),
    ...more,
  ]
}

/** The first case is the good request: an endpoint where it was not tried is checked in part only. */
function resultOf(results: Results): string {
  if (results.some(({ state }) => state === 'differs')) return 'differs'
  if (results.every(({ state }) => state === 'not-checked')) return 'not checked'
  return results[0]?.state === 'ok' ? 'ok' : 'in part'
}

function casesOf(tried: number, differing: number): string {
  if (tried === 0) return ''
  return differing === 0 ? digits(tried) : `${digits(differing)} of ${digits(tried)} differ`
}

function differenceText({ expected, actual }: Difference): string {
  return `expected ${printable(expected)}, got ${printable(actual)}`
}

/** What was not checked and why, differences where the description is silent, what is left behind, and the verdict. */
export function renderContractEnd(results: Results, left: readonly string[]): string[] {
  return [
    ...section('Also not checked:', notChecked(results)),
    ...section("Where the description is silent, different from this repository's service:", notes(results)),
    ...section('Lists (directory.createBatch):', lists(results)),
    ...section('Left behind:', left.map(printable)),
    '',
    verdict(results),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function notChecked(results: Results): string[] {
  // The table already shows the reason for a whole endpoint.
  const whole = new Map(results.filter(isGood).map(({ number, reason }) => [number, reason]))
  const skipped = results.filter(({ state, number, reason }) => {
    return state === 'not-checked' && whole.get(number) !== reason
  })
  return [...Map.groupBy(skipped, ({ reason }) => reason ?? '')].map(
    ([reason, group]) => `${amount(group.length, 'case')}: ${printable(reason)}`,
  )
}

function isGood({ probe }: Result): boolean {
  return probe === 'good'
}

function notes(results: Results): string[] {
  const all = results.flatMap((result) =>
    result.notes.map((note) => ({ result, text: differenceText(note) })),
  )
  return [...Map.groupBy(all, ({ text }) => text)].map(([text, group]) => {
    const examples = group
      .slice(0, EXAMPLES)
      .map(({ result }) => `#${result.number} ${printable(result.probe)}`)
    const more = group.length > EXAMPLES ? `, and ${digits(group.length - EXAMPLES)} more` : ''
    return `${text}: ${examples.join(', ')}${more}`
  })
}

/** Whether the service creates several entries with one request. */
function lists(results: Results): string[] {
  return results.flatMap(({ probe, state, number, path, notes: [note] }) => {
    if (probe !== 'three entries in one request' || state !== 'ok') return []
    const where = `#${number} ${path}`
    if (note === undefined) return [`${where} creates three entries with one request: it takes lists`]
    return [`${where} does not take lists: ${differenceText(note)}; leave createBatch at 1`]
  })
}

function verdict(results: Results): string {
  const tried = results.filter(({ state }) => state !== 'not-checked')
  const differing = tried.filter(({ state }) => state === 'differs')
  const checked = countEndpoints(tried.filter((result) => isGood(result) || result.state === 'differs'))
  const rest = countEndpoints(results) - checked
  const skipped = rest === 0 ? '' : `; ${amount(rest, 'endpoint')} not checked`
  const all = `${amount(tried.length, 'case')} of ${amount(checked, 'endpoint')}`
  if (differing.length === 0) return `The service follows the API description in ${all}${skipped}.`
  return `The service differs from the API description in ${digits(differing.length)} of ${all}${skipped}.`
}

function countEndpoints(results: Results): number {
  return new Set(results.map(({ number }) => number)).size
}
