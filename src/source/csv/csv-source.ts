import { DirsyncdError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Kind } from '../../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../../directory/snapshot.ts'
import { createCollector, type Collector, examples } from '../collect.ts'
import {
  compileAttribute,
  compileGroupMap,
  compileUserMap,
  type GroupMapping,
  type UserMapping,
} from '../mapping.ts'
import type { Source } from '../source.ts'
import { createMemberTable, type MemberTable } from './member-table.ts'
import type { CsvFile, CsvSourceOptions, MembersMap } from './options.ts'
import type { CsvInput } from './input.ts'
import { probe } from './probe.ts'
import { readCsv } from './read-csv.ts'

interface Compiled {
  readonly users: CsvInput & { readonly map: UserMapping }
  readonly groups: (CsvInput & { readonly map: GroupMapping }) | undefined
  readonly members: (CsvInput & { readonly map: MembersMap }) | undefined
}

/** CSV files as a source. Throws `config-invalid`, naming the key, when the options cannot be used. */
export function createCsvSource(options: CsvSourceOptions, log: Log): Source {
  const compiled = compileOptions(options)
  return {
    read: (signal) => readAll(compiled, signal, log),
    lookAgain: (kind, ids, signal) => lookAgain(compiled, kind, ids, signal),
    probe: (signal) => probe(inputsOf(compiled), signal),
  }
}

function compileOptions({ users, groups, members }: CsvSourceOptions): Compiled {
  if (members !== undefined && groups === undefined) {
    throw new DirsyncdError(
      'config-invalid',
      'members: there is a file of members and none of groups, so add groups',
    )
  }
  return {
    users: compileFile(users, 'users', compileUserMap(users.map, 'users.map', columnProblem)),
    groups: groups && compileFile(groups, 'groups', compileGroupMap(groups.map, 'groups.map', columnProblem)),
    members: members && compileFile(members, 'members', compileMembersMap(members.map)),
  }
}

function compileFile<M>(
  { path, delimiter }: CsvFile<unknown>,
  key: string,
  map: M & { readonly attributes: readonly string[] },
): CsvInput & { readonly map: M } {
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter)) {
    throw new DirsyncdError(
      'config-invalid',
      `${key}.delimiter: it must be one character, such as "," or ";"`,
    )
  }
  return { path, delimiter, columns: map.attributes, key, map }
}

function compileMembersMap(map: MembersMap): MembersMap & { readonly attributes: readonly string[] } {
  const group = compileAttribute(map.group, 'members.map.group', columnProblem)
  const user = compileAttribute(map.user, 'members.map.user', columnProblem)
  return { group, user, attributes: [group, user] }
}

/** Any name can be a column's; whether the file has it shows when it is read. */
function columnProblem(): undefined {
  return undefined
}

/** Users, then members, which name users, then groups, which need their members. */
async function readAll(compiled: Compiled, signal: AbortSignal, log: Log): Promise<SourceSnapshot> {
  const covers = { groups: compiled.groups !== undefined, members: compiled.members !== undefined }
  const collector = createCollector(covers)
  const members = createMemberTable(collector.knowsUser)
  await readUsers(compiled.users, collector, signal, log)
  if (compiled.members !== undefined) await readMembers(compiled.members, collector, members, signal, log)
  if (compiled.groups !== undefined) await readGroups(compiled.groups, collector, members, signal, log)
  for (const { group, users } of members.orphans()) {
    const rows = users.length === 1 ? '1 member' : `${users.length} members`
    collector.addOrphans(
      group,
      `${rows} of the group "${group}", which is not in the file of groups: ${examples(users)}`,
    )
  }
  return collector.snapshot()
}

async function readUsers(
  input: Compiled['users'],
  collector: Collector,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const { map } = input
  const totals = await readCsv(input, signal, {
    onUnreadable: (detail) => collector.addUnreadable('user', detail),
    onRow: ({ from, cells }) => {
      collector.addUser({
        ids: notBlank(cells(map.id)),
        idName: map.id,
        from,
        email: map.email.valueOf(cells),
        name: map.name.valueOf(cells),
        employeeId: map.employeeId.valueOf(cells),
      })
    },
  })
  log.debug({ path: input.path, rows: totals.rows }, 'read a part of the source')
}

async function readMembers(
  input: NonNullable<Compiled['members']>,
  collector: Collector,
  members: MemberTable,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const totals = await readCsv(input, signal, {
    onUnreadable: (detail) => collector.addUnreadable('group', detail),
    onRow: ({ from, cells }) => {
      const [group] = notBlank(cells(input.map.group))
      const [user] = notBlank(cells(input.map.user))
      if (group !== undefined && user !== undefined) return members.add(group, user)
      const column = group === undefined ? input.map.group : input.map.user
      collector.addUnreadable('group', `${from}: column "${column}" is empty`)
    },
  })
  log.debug({ path: input.path, rows: totals.rows }, 'read a part of the source')
}

async function readGroups(
  input: NonNullable<Compiled['groups']>,
  collector: Collector,
  members: MemberTable,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const { map } = input
  const totals = await readCsv(input, signal, {
    onUnreadable: (detail) => collector.addUnreadable('group', detail),
    onRow: ({ from, cells }) => {
      const ids = notBlank(cells(map.id))
      const resolved = members.take(ids[0])
      collector.addGroup({
        ids,
        idName: map.id,
        from,
        name: map.name.valueOf(cells),
        members: resolved.ids,
        strangers: resolved.strangers,
      })
    },
  })
  log.debug({ path: input.path, rows: totals.rows }, 'read a part of the source')
}

/** A file has no filter: what is in it is present. A second look that cannot read every row proves nothing. */
async function lookAgain(
  compiled: Compiled,
  kind: Kind,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sighting>> {
  const input = kind === 'user' ? compiled.users : compiled.groups
  if (ids.length === 0) return new Map()
  // Without groups in the options the source says nothing about them, and so proves none of them absent.
  if (input === undefined) return new Map(ids.map((id) => [id, 'present']))
  const answer = new Map<string, Sighting>(ids.map((id) => [id, 'gone']))
  await readCsv({ ...input, columns: [input.map.id] }, signal, {
    onUnreadable: refuseProof,
    onRow: ({ from, cells }) => {
      const [id] = notBlank(cells(input.map.id))
      if (id === undefined) refuseProof(`${from}: column "${input.map.id}" is empty`)
      else if (answer.has(id)) answer.set(id, 'present')
    },
  })
  return answer
}

function refuseProof(detail: string): never {
  throw new DirsyncdError('source-incomplete', `nobody can be proved absent, because of ${detail}`)
}

function inputsOf({ users, groups, members }: Compiled): CsvInput[] {
  return [users, groups, members].filter((input) => input !== undefined)
}

/** Ids are never trimmed, but one of blanks only is none. */
function notBlank(values: readonly string[]): readonly string[] {
  return values.filter((value) => value.trim() !== '')
}
