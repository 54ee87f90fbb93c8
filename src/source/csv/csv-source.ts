import { type Notice, isNotice } from '../../core/notice.ts'
import { basename } from 'node:path'
import { incomplete } from '../incomplete.ts'
import type { Log } from '../../base/log/log.ts'
import type { Kind } from '../../core/entries/entry.ts'
import type { Coverage, SourceSnapshot } from '../../core/entries/snapshot.ts'
import { Collector, notBlank } from '../collect.ts'
import { type Finder, findInRead } from '../find.ts'
import { recheckByReading } from '../recheck-by-reading.ts'
import type { Lookup } from '../mapping.ts'
import type { Source } from '../source.ts'
import { type Compiled, compileOptions } from './compile.ts'
import { changedPath, type Fingerprint, fingerprint, patternsOf, readSettled } from './files.ts'
import { addGroupsOfColumn, groupsOf } from './group-column.ts'
import type { CsvInput, CsvListener } from './input.ts'
import { createMemberTable, type MemberTable } from './member-table.ts'
import type { CsvSourceOptions } from './options.ts'
import { probe } from './probe.ts'
import { readCsv } from './read-csv.ts'
import { isSpreadsheetError } from './spreadsheet.ts'
import { digits } from '../../base/wording.ts'

/** Throws `config-invalid`, naming the key, when the options cannot be used. */
export function createCsvSource(options: CsvSourceOptions, log: Log): Source {
  const compiled = compileOptions(options)
  const inputs = inputsOf(compiled)
  const { settleMs } = compiled
  let last: LastRead | undefined
  const read: Source['read'] = async (signal, { isForDisplay = false, table } = {}) => {
    last = undefined
    const files = await fingerprint(inputs)
    const snapshot = await readSettled(inputs, isForDisplay ? 0 : settleMs, signal, () =>
      readAll(compiled, new Collector(coversOf(compiled), table), signal, log),
    )
    last = { files, snapshot: new WeakRef(snapshot) }
    return snapshot
  }
  const unchanged = async (): Promise<SourceSnapshot | undefined> => {
    const before = last
    if (before === undefined || changedPath(before.files, await fingerprint(inputs)) !== undefined) return
    return before.snapshot.deref()
  }
  return {
    read,
    readIds: (kind, ids, signal) =>
      recheckByReading(kind, ids, async () => (await unchanged()) ?? read(signal)),
    probe: (signal) => probe(inputs, settleMs, signal),
    find: (wanted, signal) =>
      findInRead(wanted, searchedIn(compiled), (finder) =>
        readAll(compiled, new Collector(coversOf(compiled)), signal, log, finder),
      ),
  }
}

/** The same files hold the same entries, so a recheck need not wait until they settle again. */
interface LastRead {
  readonly files: Fingerprint
  /** Weak, because a source outlives its runs. */
  readonly snapshot: WeakRef<SourceSnapshot>
}

interface ReadState {
  readonly collector: Collector
  readonly members: MemberTable
  readonly doubts: Notice[]
  readonly signal: AbortSignal
  readonly log: Log
  /** For `find`: gets every entry. */
  readonly finder: Finder | undefined
}

function coversOf({ groups, members, groupColumn }: Compiled): Coverage {
  const hasColumn = groupColumn !== undefined
  return { groups: hasColumn || groups !== undefined, members: hasColumn || members !== undefined }
}

/** Users first, because members name them; groups last, because they need their members. */
async function readAll(
  compiled: Compiled,
  collector: Collector,
  signal: AbortSignal,
  log: Log,
  finder?: Finder,
): Promise<SourceSnapshot> {
  const { users, groups, members, groupColumn } = compiled
  const state = {
    collector,
    members: createMemberTable((id) => collector.knowsUser(id)),
    doubts: [],
    signal,
    log,
    finder,
  }
  await readUsers(users, groupColumn, state)
  if (members !== undefined) await readMembers(members, state)
  if (groups !== undefined) await readGroups(groups, state)
  if (groupColumn === undefined) addMembersOfUnknownGroups(state)
  else addGroupsOfColumn(groupColumn, state.members, collector, finder)
  const snapshot = collector.snapshot()
  if (compiled.badRows === 'refuse') refuseBadRows(snapshot)
  return { ...snapshot, notices: [...snapshot.notices, ...state.doubts] }
}

/** Reports unreadable rows and doubtful text as of this kind of entry. */
async function readInput(
  input: CsvInput,
  kind: Kind,
  { collector, doubts, signal, log }: ReadState,
  onRow: CsvListener['onRow'],
): Promise<void> {
  const totals = await readCsv(input, signal, {
    onRow,
    onUnreadable: (row) => collector.addUnreadable(kind, row),
    onDoubt: (params) => doubts.push({ kind, id: undefined, code: 'doubtful-text', params }),
  })
  log.debug({ path: input.path, rows: totals.rows }, 'read one input of the source')
}

async function readUsers(
  input: Compiled['users'],
  groupColumn: Compiled['groupColumn'],
  state: ReadState,
): Promise<void> {
  const { map } = input
  await readInput(input, 'user', state, ({ from, cells }) => {
    const user = { ids: notBlank(cells(map.id)), idName: map.id, from: from(), ...fieldsOf(map, cells) }
    state.finder?.see('user', { ...user, lookup: cells }, map)
    const added = state.collector.addUser(user)
    if (added === undefined || groupColumn === undefined) return
    for (const group of groupsOf(groupColumn, cells)) state.members.add(group, added.id)
  })
}

/** A spreadsheet error is no value; `faults` names such columns. */
function fieldsOf<F extends { readonly faults: readonly string[] }>(
  map: { fieldsOf(lookup: Lookup): F },
  cells: Lookup,
): F {
  let faults: Set<string> | undefined
  const fields = map.fieldsOf((column) => {
    const values = cells(column)
    if (!values.some(isSpreadsheetError)) return values
    faults ??= new Set()
    faults.add(`column "${column}": "${values[0]?.trim()}" is an error of a spreadsheet, not a value`)
    return []
  })
  return faults === undefined ? fields : { ...fields, faults: [...fields.faults, ...faults] }
}

async function readMembers(input: NonNullable<Compiled['members']>, state: ReadState): Promise<void> {
  await readInput(input, 'group', state, ({ from, cells }) => {
    const [group] = notBlank(cells(input.map.group))
    const [user] = notBlank(cells(input.map.user))
    if (group !== undefined && user !== undefined) return state.members.add(group, user)
    const column = group === undefined ? input.map.group : input.map.user
    state.collector.addUnreadable('group', { from: from(), fault: `column "${column}" is empty` })
  })
}

async function readGroups(input: NonNullable<Compiled['groups']>, state: ReadState): Promise<void> {
  const { map } = input
  await readInput(input, 'group', state, ({ from, cells }) => {
    const ids = notBlank(cells(map.id))
    const resolved = state.members.take(ids[0])
    const group = { ids, idName: map.id, from: from(), ...fieldsOf(map, cells) }
    state.finder?.see('group', { ...group, lookup: cells, members: resolved.ids.length }, map)
    state.collector.addGroup({ ...group, members: resolved.ids, unknownMembers: resolved.unknown })
  })
}

function addMembersOfUnknownGroups({ collector, members }: ReadState): void {
  for (const { group, users } of members.remaining()) {
    collector.addMembersOfUnknownGroup(group, users)
  }
}

function refuseBadRows({ unreadable, notices }: SourceSnapshot): void {
  if (unreadable === 0) return
  const first = notices.find((notice) => isNotice(notice, 'unreadable'))
  const rows = unreadable === 1 ? 'a row' : `${digits(unreadable)} rows`
  const { from, fault } = first?.params ?? {}
  throw incomplete(`${rows} cannot be understood, and badRows is refuse: ${from}: ${fault}`)
}

function inputsOf({ users, groups, members }: Compiled): CsvInput[] {
  return [users, groups, members].filter((input) => input !== undefined)
}

function searchedIn({ users, groups }: Compiled): string {
  const paths = [users, groups].flatMap((input) => (input === undefined ? [] : patternsOf(input)))
  return `in ${paths.map((path) => basename(path)).join(' and ')}`
}
