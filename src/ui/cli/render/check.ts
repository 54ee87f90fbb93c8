import type {
  CheckCounts,
  CheckFinding,
  CheckItem,
  CheckLevel,
  CheckSamples,
  CheckTrace,
} from '../../../operations/check.ts'
import { renderTable } from '../../../base/terminal/table.ts'
import { amount, digits } from '../../../base/wording.ts'
import { printable } from '../../../base/printable.ts'
import { textWidth } from '../../../base/terminal/text.ts'
import { cut, cutMiddle, hang } from '../../../base/terminal/wrap.ts'

const MARKS: Readonly<Record<CheckLevel, string>> = { ok: 'ok  ', info: '    ', warn: 'warn', fail: 'FAIL' }

const LABEL_WIDTH = 14

const INDENT = '  '

export function headingOf(item: CheckItem): string {
  if (item.type !== 'line') return `${item.sync}: source`
  return item.part === 'site' ? 'this installation' : `${item.sync}: ${item.part}`
}

/** `columns` is the width of the terminal, `undefined` without a terminal. */
export function renderCheckItem(item: CheckItem, columns: number | undefined): string[] {
  switch (item.type) {
    case 'line':
      return renderFact(item.level, item.label, item.detail, columns)
    case 'counts':
      return renderCounts(item, columns)
    case 'finding':
      return renderFinding(item, columns)
    case 'samples':
      return renderSamples(item, columns)
    case 'trace':
      return renderTrace(item, columns)
  }
}

export function renderVerdict({ failed, warnings }: { failed: number; warnings: number }): string {
  if (failed > 0) {
    const also = warnings === 0 ? '' : `, ${amount(warnings, 'warning')}`
    return `${failed === 1 ? '1 check' : `${failed} checks`} failed${also}.`
  }
  return warnings === 0 ? 'Everything works.' : `Everything works, with ${amount(warnings, 'warning')}.`
}

function renderFact(level: CheckLevel, label: string, detail: string, columns: number | undefined): string[] {
  const blanks = ' '.repeat(Math.max(1, LABEL_WIDTH - textWidth(label)))
  const begin = `${INDENT}${MARKS[level]}  ${printable(label)}${blanks}`
  return hang(begin, printable(detail), columns)
}

function renderCounts(counts: CheckCounts, columns: number | undefined): string[] {
  const { users, groups, memberships, usersWithEmail, usersWithName, usersWithEmployeeId } = counts
  const of = (some: number) => (some === users ? 'all' : digits(some))
  const having =
    users === 0
      ? ''
      : `; ${of(usersWithEmail)} with e-mail, ${of(usersWithName)} with a name, ${of(usersWithEmployeeId)} with an employee id`
  const empty =
    counts.groupsWithoutMembers === 0 ? '' : `, ${digits(counts.groupsWithoutMembers)} without members`
  const members = groups === 0 ? '' : ` with ${amount(memberships, 'membership')}${empty}`
  return [
    ...renderFact(users > 0 ? 'ok' : 'info', 'can be used', `${amount(users, 'user')}${having}`, columns),
    ...renderFact('info', '', `${amount(groups, 'group')}${members}`, columns),
  ]
}

function renderFinding(
  { level, code, sentence, examples }: CheckFinding,
  columns: number | undefined,
): string[] {
  const label = LABELS.get(code) ?? code
  const names = examples.map(printable)
  if (names.length === 0) return renderFact(level, label, sentence, columns)
  if (names.every((name) => textWidth(name) <= SHORT && !name.includes(' ')))
    return renderFact(level, label, `${sentence}, such as ${names.join(', ')}`, columns)
  const margin = ' '.repeat(INDENT.length + MARKS.info.length + 2 + LABEL_WIDTH)
  return [
    ...renderFact(level, label, `${sentence}, such as`, columns),
    ...names.flatMap((name) => hang(`${margin}- `, name, columns)),
  ]
}

/** Examples up to this width share a line. */
const SHORT = 40

const LABELS: ReadonlyMap<string, string> = new Map([
  ['nobody', 'users'],
  ['no-email', 'e-mail'],
  ['duplicate-email', 'e-mail'],
  ['email-not-allowed', 'e-mail'],
  ['email-dropped', 'e-mail'],
  ['no-name', 'name'],
  ['unreadable', 'unreadable'],
  ['duplicate-id', 'ids'],
  ['unknown-members', 'members'],
  ['members-hidden', 'members'],
])

function renderSamples({ users, groups }: CheckSamples, columns: number | undefined): string[] {
  const people = users.map(({ id, name, email, employeeId }) => [
    id,
    name ?? '-',
    email ?? '-',
    employeeId ?? '-',
  ])
  const teams = groups.map(({ id, name, members }) => [id, name, digits(members)])
  return [
    ...(people.length === 0
      ? []
      : ['', ...renderFitted(['USER', 'NAME', 'E-MAIL', 'EMPLOYEE ID'], people, columns)]),
    ...(teams.length === 0 ? [] : ['', ...renderFitted(['GROUP', 'NAME', 'MEMBERS'], teams, columns)]),
  ]
}

/** Cuts the cells of the widest columns, marked with `…`, to fit the terminal. */
function renderFitted(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): string[] {
  const safe = rows.map((row) => row.map(printable))
  const widths = head.map((title, at) =>
    Math.max(textWidth(title), ...safe.map((row) => textWidth(row[at] ?? ''))),
  )
  const room = columns === undefined ? Infinity : columns - INDENT.length - 2 * (head.length - 1)
  const limits = narrow(
    widths.map((width) => Math.min(width, WIDEST)),
    room,
  )
  // The first column is the id.
  const fitted = safe.map((row) =>
    row.map((cell, at) => (at === 0 ? cutMiddle : cut)(cell, limits[at] ?? WIDEST)),
  )
  return renderTable(head, fitted).map((line) => INDENT + line)
}

const NARROWEST = 11

/** Of a column, also without a terminal. */
const WIDEST = 64

function narrow(widths: readonly number[], room: number): number[] {
  const limits = [...widths]
  while (limits.reduce((sum, width) => sum + width, 0) > room) {
    const widest = Math.max(...limits)
    if (widest <= NARROWEST) break
    limits[limits.indexOf(widest)] = widest - 1
  }
  return limits
}

function renderTrace({ kind, id, from, fields }: CheckTrace, columns: number | undefined): string[] {
  const lines = [
    '',
    ...hang(INDENT, `How the ${kind} ${printable(id)} was mapped, from ${printable(from)}:`, columns),
  ]
  for (const { field, steps } of fields) {
    for (const [at, { text }] of steps.entries()) {
      const label = at === 0 ? field : ''
      lines.push(...hang(`${INDENT}  ${label.padEnd(LABEL_WIDTH)}`, printable(text), columns))
    }
  }
  return lines
}
