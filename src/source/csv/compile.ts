import { RE2JS } from 're2js'
import { sentence } from '../../base/errors.ts'
import {
  compileAttribute,
  compileGroupMap,
  compileUserMap,
  type GroupMap,
  type GroupMapping,
  type UserMapping,
} from '../mapping.ts'
import { invalid } from '../mapping/attribute.ts'
import { encodingNamed } from './encoding.ts'
import { columnKey } from './header.ts'
import type { CsvInput } from './input.ts'
import type { CsvFile, CsvSourceOptions, GroupColumn, MembersMap } from './options.ts'

export interface Compiled {
  readonly users: CsvInput & { readonly map: UserMapping }
  readonly groups: (CsvInput & { readonly map: GroupMapping }) | undefined
  readonly members: (CsvInput & { readonly map: MembersMap }) | undefined
  readonly groupColumn: CompiledGroupColumn | undefined
  readonly badRows: 'skip' | 'refuse'
  readonly settleMs: number
}

export interface CompiledGroupColumn {
  readonly column: string
  readonly separator: string | undefined
  readonly map: GroupMapping
}

/** Throws `config-invalid`, naming the key, when the options cannot be used. */
export function compileOptions(options: CsvSourceOptions): Compiled {
  const { users, groups, members, allowedDomains } = options
  const file = groups !== undefined && 'map' in groups ? groups : undefined
  const column = groups !== undefined && 'column' in groups ? compileGroupColumn(groups) : undefined
  if (members !== undefined && file === undefined) {
    const what =
      column === undefined ? 'none of groups, so add groups' : 'groups.column, so leave one of them out'
    throw invalid('members', `there is a file of members and ${what}`)
  }
  const userMap = compileUserMap(users.map, 'users.map', anyColumn, allowedDomains)
  return {
    users: compileFile(users, 'users', userMap, [userMap.id], column?.column),
    groups: file && compileGroups(file),
    members: members && compileMembers(members),
    groupColumn: column,
    badRows: options.badRows ?? 'skip',
    settleMs: options.settleMs ?? 0,
  }
}

function compileGroups(file: CsvFile<GroupMap>): NonNullable<Compiled['groups']> {
  const map = compileGroupMap(file.map, 'groups.map', anyColumn)
  return compileFile(file, 'groups', map, [map.id])
}

function compileMembers(file: CsvFile<MembersMap>): NonNullable<Compiled['members']> {
  const group = compileAttribute(file.map.group, 'members.map.group', anyColumn)
  const user = compileAttribute(file.map.user, 'members.map.user', anyColumn)
  if (columnKey(group) === columnKey(user))
    throw invalid(
      'members.map',
      `group and user are both the column "${user}"; name the two different columns that have their ids`,
    )
  const attributes = [group, user]
  return compileFile(file, 'members', { group, user, attributes }, attributes)
}

function compileFile<M>(
  { trailer, ...format }: CsvFile<unknown>,
  key: string,
  map: M & { readonly attributes: readonly string[] },
  idColumns: readonly string[],
  groupColumn?: string,
): CsvInput & { readonly map: M } {
  if (format.quote === format.delimiter) throw invalid(`${key}.quote`, 'it is also the delimiter')
  const named = groupColumn === undefined ? [] : [groupColumn]
  return {
    ...format,
    encoding: compileEncoding(format.encoding, `${key}.encoding`),
    ...(trailer !== undefined && { trailer: compileTrailer(trailer.pattern, `${key}.trailer.pattern`) }),
    columns: [...new Set([...map.attributes, ...named])],
    idColumns: [...idColumns, ...named],
    key,
    ...(groupColumn !== undefined && { groupColumn }),
    map,
  }
}

function compileEncoding(name: string, key: string): string {
  const encoding = name === 'auto' ? name : encodingNamed(name)
  if (encoding !== undefined) return encoding
  throw invalid(
    key,
    `"${name}" is not a known encoding; write utf8, windows-1250, another WHATWG label, or auto`,
  )
}

function compileTrailer(pattern: string, key: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw invalid(key, `"${pattern}" is not a regular expression of RE2 (${sentence(error)})`)
  }
}

function compileGroupColumn({ column: name, separator, name: text }: GroupColumn): CompiledGroupColumn {
  const column = compileAttribute(name, 'groups.column', anyColumn)
  const onlyColumn = (other: string) =>
    other === column ? undefined : `the name of a group can only be made of "${column}", not of "${other}"`
  const map = compileGroupMap({ external_id: column, name: text ?? column }, 'groups', onlyColumn)
  return { column, separator, map }
}

/** Only reading the file shows which columns it has. */
function anyColumn(): undefined {
  return undefined
}
