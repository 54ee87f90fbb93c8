import type { ConformanceStep } from '../conformance.ts'
import { amount, digits } from '../../base/wording.ts'
import { printable } from '../../base/printable.ts'

type Results = Extract<ConformanceStep, { step: 'endpoint' }>['results']
type Result = Results[number]
type Difference = Result['differences'][number]

/** Differences of one endpoint. */
const SHOWN = 10

export function renderContractBegin(step: Extract<ConformanceStep, { step: 'begin' }>): string[] {
  const { baseUrl, organizationId, directoryId, writes, paths } = step
  const mode = writes ? 'reading and writing' : 'reading only'
  return [
    `${printable(baseUrl)}, organization ${organizationId}, directory ${directoryId}, ${mode}`,
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
  const name = `${first.method.padEnd(6)}  ${first.path.padEnd(width)}`
  const cases = casesOf(results)
  const reason = first.state === 'not-checked' ? (first.reason ?? '') : ''
  const why = cases === '' || reason === '' ? reason : `; ${reason}`
  const lines = results.flatMap(textsOf)
  const more =
    lines.length > SHOWN ? [`      … and ${digits(lines.length - SHOWN)} more, --json has them`] : []
  return [
    `${String(first.number).padStart(2)}  ${name}  ${resultOf(results).padEnd(11)}  ${printable(cases + why)}`,
    ...lines.slice(0, SHOWN),
    ...more,
  ]
}

function textsOf({ probe, differences }: Result): string[] {
  return differences.map((difference) => `      ${printable(probe)}: ${differenceText(difference)}`)
}

/** The first case is the good request: an endpoint where it was not tried is checked in part only. */
function resultOf(results: Results): string {
  if (results.some(({ state }) => state === 'differs')) return 'differs'
  if (results.every(({ state }) => state === 'not-checked')) return 'not checked'
  return results[0]?.state === 'ok' ? 'ok' : 'in part'
}

function casesOf(results: Results): string {
  const { tried, differing } = countCases(results)
  if (tried === 0) return ''
  return differing === 0 ? digits(tried) : `${digits(differing)} of ${digits(tried)} differ`
}

function countCases(results: Results): Record<'tried' | 'differing', number> {
  return {
    tried: results.filter(({ state }) => state !== 'not-checked').length,
    differing: results.filter(({ state }) => state === 'differs').length,
  }
}

function differenceText({ expected, actual }: Difference): string {
  return `expected ${printable(expected)}, got ${printable(actual)}`
}

export function renderContractEnd(results: Results, left: readonly string[]): string[] {
  return [
    ...section('Also not checked:', notChecked(results)),
    ...section('Lists (directory.createBatch):', lists(results)),
    ...section('Left behind:', left.map(printable)),
    '',
    ...verdict(results),
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

function lists(results: Results): string[] {
  return results.flatMap(({ probe, state, number, path, unstated }) => {
    if (probe !== 'three entries in one request' || state !== 'ok') return []
    const where = `#${number} ${path}`
    if (unstated === undefined) return [`${where} creates three entries with one request: it takes lists`]
    return [`${where} does not take lists: ${differenceText(unstated)}; leave createBatch at 1`]
  })
}

function verdict(results: Results): string[] {
  const { tried, differing } = countCases(results)
  const checked = countEndpoints(results.filter((each) => isTriedGood(each) || each.state === 'differs'))
  const rest = countEndpoints(results) - checked
  const skipped = rest === 0 ? '' : `; ${amount(rest, 'endpoint')} not checked`
  const all = `${amount(tried, 'case')} of ${amount(checked, 'endpoint')}`
  if (differing === 0) return [`The service follows the API description in ${all}${skipped}.`]
  return [
    `The service differs from the API description in ${digits(differing)} of ${all}${skipped}.`,
    'Run the test again: a fault of the service or a write of another program may cause a difference.',
  ]
}

function isTriedGood(result: Result): boolean {
  return isGood(result) && result.state !== 'not-checked'
}

function countEndpoints(results: Results): number {
  return new Set(results.map(({ number }) => number)).size
}
