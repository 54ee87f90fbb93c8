import type { ConformanceStep } from '../conformance.ts'
import { amount, digits } from '../../base/wording.ts'
import { printable } from '../../base/printable.ts'

type Results = Extract<ConformanceStep, { step: 'endpoint' }>['results']
type Result = Results[number]
type Difference = Result['differences'][number]

/** Differences of one endpoint, and examples of one note. */
const SHOWN = 10
const EXAMPLES = 3

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

/** One line for an endpoint, and one below it for each difference and each unclear case. */
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

function textsOf({ probe, state, differences, reason = '' }: Result): string[] {
  const texts = state === 'unclear' ? [`unclear; ${printable(reason)}`] : differences.map(differenceText)
  return texts.map((text) => `      ${printable(probe)}: ${text}`)
}

/** The first case is the good request: an endpoint where it was not tried is checked in part only. */
function resultOf(results: Results): string {
  if (results.some(({ state }) => state === 'differs')) return 'differs'
  if (results.some(({ state }) => state === 'unclear')) return 'unclear'
  if (results.every(({ state }) => state === 'not-checked')) return 'not checked'
  return results[0]?.state === 'ok' ? 'ok' : 'in part'
}

function casesOf(results: Results): string {
  const { tried, differing, unclear } = countCases(results)
  if (tried === 0) return ''
  const parts = [
    ...(differing === 0 ? [] : [`${digits(differing)} of ${digits(tried)} differ`]),
    ...(unclear === 0 ? [] : [`${digits(unclear)} of ${digits(tried)} unclear`]),
  ]
  return parts.length === 0 ? digits(tried) : parts.join(', ')
}

function countCases(results: Results): Record<'tried' | 'differing' | 'unclear', number> {
  const count = (wanted: Result['state']) => results.filter(({ state }) => state === wanted).length
  return {
    tried: results.length - count('not-checked'),
    differing: count('differs'),
    unclear: count('unclear'),
  }
}

function differenceText({ expected, actual }: Difference): string {
  return `expected ${printable(expected)}, got ${printable(actual)}`
}

export function renderContractEnd(results: Results, left: readonly string[]): string[] {
  return [
    ...section('Also not checked:', notChecked(results)),
    ...section(
      "Where the description is silent (expected is what this repository's service answers):",
      notes(results),
    ),
    ...section('Faults that were gone when the case was tried again:', passingFaults(results)),
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
  return grouped(
    results.flatMap((result) => result.notes.map((note) => ({ result, text: differenceText(note) }))),
  )
}

function passingFaults(results: Results): string[] {
  return grouped(
    results.flatMap((result) =>
      result.passingFault === undefined ? [] : [{ result, text: printable(result.passingFault) }],
    ),
  )
}

/** One line for each text, with the first cases that it belongs to. */
function grouped(all: readonly { readonly result: Result; readonly text: string }[]): string[] {
  return [...Map.groupBy(all, ({ text }) => text)].map(([text, group]) => {
    const examples = group
      .slice(0, EXAMPLES)
      .map(({ result }) => `#${result.number} ${printable(result.probe)}`)
    const more = group.length > EXAMPLES ? `, and ${digits(group.length - EXAMPLES)} more` : ''
    return `${text}: ${examples.join(', ')}${more}`
  })
}

function lists(results: Results): string[] {
  return results.flatMap(({ probe, state, number, path, notes: [note] }) => {
    if (probe !== 'three entries in one request' || state !== 'ok') return []
    const where = `#${number} ${path}`
    if (note === undefined) return [`${where} creates three entries with one request: it takes lists`]
    return [`${where} does not take lists: ${differenceText(note)}; leave createBatch at 1`]
  })
}

function verdict(results: Results): string {
  const { tried, differing, unclear } = countCases(results)
  const clear = results.filter(({ state }) => state === 'ok' || state === 'differs')
  const checked = countEndpoints(clear.filter((result) => isGood(result) || result.state === 'differs'))
  const rest = countEndpoints(results) - checked
  const skipped = rest === 0 ? '' : `; ${amount(rest, 'endpoint')} not checked`
  const open = unclear === 0 ? '' : `; ${amount(unclear, 'case')} unclear`
  const all = `${amount(tried - unclear, 'case')} of ${amount(checked, 'endpoint')}`
  const verb = differing === 0 ? 'follows the API description in' : 'differs from the API description in'
  const share = differing === 0 ? '' : `${digits(differing)} of `
  return `The service ${verb} ${share}${all}${open}${skipped}.`
}

function countEndpoints(results: Results): number {
  return new Set(results.map(({ number }) => number)).size
}
