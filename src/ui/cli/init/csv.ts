import { basename, resolve } from 'node:path'
import type { FoundCsv } from '../../../source/csv/discover.ts'
import type { KnownIds } from '../../../source/csv/member-columns.ts'
import type { RawCsv } from '../../../operations/init/draft.ts'
import { amount } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import { hang } from '../../../base/terminal/wrap.ts'
import { checkNotEmpty } from './check.ts'
import { type Init, isAsked } from './context.ts'
import { askFields, askId, MAPPING_FLAGS, type Mapping } from './mapping.ts'
import { preview, RIGHT } from './preview.ts'
import type { Choice } from './prompts.ts'

export async function askCsv(init: Init): Promise<RawCsv> {
  const users = await askFile(init, USERS)
  if (users === undefined) throw new Error('the file of users is not optional')
  const groups = await askFile(init, GROUPS)
  const members = groups === undefined ? undefined : await askFile(init, MEMBERS)
  return init.answers.untilItWorks(
    () => AGAIN,
    async () => {
      const userMap = await askUserMap(init, users)
      const source: RawCsv = {
        type: 'csv',
        users: { ...formatOf(users), map: userMap },
        ...(groups && (await withGroups(init, groups, members, idsOf(users, userMap.external_id)))),
      }
      await preview(init, source)
      return source
    },
  )
}

/** The first two have no option: the proposal is nearly always right, and the file can be edited. */
const COLUMNS = {
  groupId: '--csv-groups (id)',
  groupName: '--csv-groups (name)',
  memberGroup: '--map-member-group',
  memberUser: '--map-member-user',
}

const AGAIN = [...MAPPING_FLAGS, ...Object.values(COLUMNS), RIGHT]

async function withGroups(
  init: Init,
  groups: FoundCsv,
  members: FoundCsv | undefined,
  userIds: KnownIds,
): Promise<Pick<RawCsv, 'groups' | 'members'>> {
  const map = await askGroupMap(init, groups)
  const ids = { users: userIds, groups: idsOf(groups, map.external_id) }
  return {
    groups: { ...formatOf(groups), map },
    ...(members && { members: { ...formatOf(members), map: await askMemberMap(init, members, ids) } }),
  }
}

/** A file that was not read to its end does not give all ids. */
function idsOf({ columns, isCut }: FoundCsv, column: string): KnownIds {
  const values = isCut ? undefined : columns.find(({ name }) => name === column)?.values
  return { column, values }
}

async function askGroupMap(init: Init, found: FoundCsv) {
  const { id, name } = init.steps.propose.groups(found)
  return {
    external_id: await askColumn(init, COLUMNS.groupId, 'Id of a group from:', id),
    name: await askColumn(init, COLUMNS.groupName, 'Name of a group from:', name),
  }
}

async function askMemberMap(
  init: Init,
  found: FoundCsv,
  ids: { readonly users: KnownIds; readonly groups: KnownIds },
) {
  const { answers, options, steps } = init
  const { memberGroup, memberUser } = COLUMNS
  const given = {
    ...(answers.isOpen(memberGroup) && { group: options.mapMemberGroup }),
    ...(answers.isOpen(memberUser) && { user: options.mapMemberUser }),
  }
  requireColumns(found, given)
  const pairs = steps.propose.members(found.columns, ids, given)
  if (!isAsked(init) && !pairs.some(({ isCertain }) => isCertain)) throw uncertain(found)
  const groups = pairs.map((pair) => pair.group)
  const group = await askColumn(init, memberGroup, 'Id of the group from:', groups, given.group)
  const users = pairs.filter((pair) => pair.group === group).map(({ user }) => user)
  return { group, user: await askColumn(init, memberUser, 'Id of the user from:', users, given.user) }
}

function requireColumns(
  { path, columns }: FoundCsv,
  given: { readonly group?: string | undefined; readonly user?: string | undefined },
): void {
  for (const [flag, name] of [
    [COLUMNS.memberGroup, given.group],
    [COLUMNS.memberUser, given.user],
  ] as const) {
    if (name !== undefined && !columns.some((column) => column.name === name))
      throw new DirsyncdError(
        'usage',
        `${flag}: ${path} has no column "${name}"; its columns are ${namesOf(columns)}.`,
      )
  }
}

function uncertain({ path, columns }: FoundCsv): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `It is not certain which ids in ${path} are of the groups and which of the users: its columns are ` +
      `${namesOf(columns)}; name them with ${COLUMNS.memberGroup} and ${COLUMNS.memberUser}.`,
  )
}

function namesOf(columns: FoundCsv['columns']): string {
  return columns.map(({ name }) => printable(name)).join(', ')
}

interface FileQuestion {
  readonly key: 'users' | 'groups' | 'members'
  readonly flag: '--csv-users' | '--csv-groups' | '--csv-members'
  readonly option: 'csvUsers' | 'csvGroups' | 'csvMembers'
  readonly message: string
  readonly isOptional: boolean
}

const USERS: FileQuestion = {
  key: 'users',
  flag: '--csv-users',
  option: 'csvUsers',
  message: 'CSV file with the users (with a header line):',
  isOptional: false,
}
const GROUPS: FileQuestion = {
  key: 'groups',
  flag: '--csv-groups',
  option: 'csvGroups',
  message: 'CSV file with the groups (empty: no groups):',
  isOptional: true,
}
const MEMBERS: FileQuestion = {
  key: 'members',
  flag: '--csv-members',
  option: 'csvMembers',
  message: 'CSV file with the members, a group and a user in each line (empty: no members):',
  isOptional: true,
}

export const CSV_TOPICS: readonly Choice<readonly string[]>[] = [
  { value: AGAIN, name: 'How the columns are mapped' },
  { value: [USERS.flag, GROUPS.flag, MEMBERS.flag, ...AGAIN], name: 'The files, and how they are mapped' },
]

/** `undefined` where there is no such file. Without a terminal, only the options name files. */
async function askFile(init: Init, question: FileQuestion): Promise<FoundCsv | undefined> {
  const { answers, options } = init
  const { key, flag, option, message, isOptional } = question
  if (isOptional && options[option] === undefined && (!answers.hasPerson || options.yes === true))
    return undefined
  if (key !== 'users' && !options.groups) return undefined
  return answers.untilItWorks(
    (code) => (code === 'source-incomplete' ? [ENCODING] : [flag]),
    async () => {
      const path = await answers.text({
        flag,
        given: options[option],
        what: `the file of ${key}`,
        message,
        ...(!isOptional && { check: checkNotEmpty }),
      })
      if (path === '') return undefined
      const found = await discover(init, key, resolve(path))
      show(init, found)
      if (key === 'members' && found.columns.length < 2)
        throw new DirsyncdError(
          'source-refused',
          `${found.path} has only the column ${namesOf(found.columns)}; a file of members has two, one for the groups and one for the users.`,
        )
      return found
    },
  )
}

const ENCODING = '--csv-encoding'

async function discover({ answers, options, steps }: Init, key: string, path: string): Promise<FoundCsv> {
  const encoding = answers.isOpen(ENCODING)
    ? options.csvEncoding
    : await answers.text({
        flag: ENCODING,
        given: undefined,
        what: 'the encoding',
        message: 'Its encoding, such as windows-1252:',
        check: checkNotEmpty,
      })
  const { csvDelimiter: delimiter } = options
  const format = {
    ...(delimiter !== undefined && { delimiter }),
    ...(encoding !== undefined && { encoding }),
  }
  return steps.discoverCsv({ path, ...format }, key)
}

function show(
  { say, columns, warnings }: Init,
  { path, encoding, delimiter, rows, columns: found, repeated }: FoundCsv,
): void {
  const mark = delimiter === '\t' ? 'tabs' : `"${delimiter}"`
  say(`  ${basename(path)}: ${encoding}, columns with ${mark} between them, ${amount(rows, 'row')} looked at`)
  say(...hang('  columns: ', namesOf(found), columns))
  for (const name of repeated) {
    const twice = `${basename(path)} has several columns with the name ${printable(name)}; none of them can be used before each has its own name`
    say(...hang('  warn  ', twice, columns))
    warnings.push(twice)
  }
}

function formatOf({ path, delimiter, encoding }: FoundCsv) {
  return { path, ...(delimiter !== ',' && { delimiter }), ...(encoding !== 'utf-8' && { encoding }) }
}

async function askUserMap(init: Init, users: FoundCsv): Promise<Mapping> {
  const { options, steps } = init
  const proposed = steps.propose.users(users)
  const filled = new Map(users.columns.map(({ name, filled: rows }) => [name, rows]))
  const proposals = (expressions: readonly (string | readonly string[])[]) =>
    expressions.map((expression) => ({
      expression,
      entries: filled.get([expression].flat()[0] ?? '') ?? users.rows,
    }))
  if (users.rows === 0)
    throw new DirsyncdError('source-refused', `${users.path} has no row below its header.`)
  if (!proposed.isIdLikely && options.mapId === undefined && !init.answers.hasPerson)
    throw uncertainId(users, proposed.noIds)
  const external_id = await askId(init, proposed.id, proposed.isIdLikely ? 'likely' : 'doubtful')
  const of = users.rows
  return askFields(init, external_id, [
    { field: 'email', given: options.mapEmail, proposals: proposals(proposed.email), of },
    { field: 'name', given: options.mapName, proposals: proposals(proposed.name), of },
    {
      field: 'employee_id',
      given: options.mapEmployeeId,
      proposals: proposals(proposed.employeeId.filter((name) => name !== external_id)),
      of,
    },
  ])
}

function uncertainId(
  { path, columns, repeated }: FoundCsv,
  noIds: readonly (readonly [name: string, because: string])[],
): DirsyncdError {
  const all = [namesOf(columns), ...repeated.map((name) => `${printable(name)} (more than once)`)]
  const why = noIds.map(([name, because]) => `${printable(name)} is not proposed, because ${because}`)
  return new DirsyncdError(
    'usage',
    `It is not certain which column of ${path} has the id: its columns are ${all.filter(Boolean).join(', ')}; ` +
      `${why.join('; ') || 'none of them is called as an id is'}; name it with --map-id.`,
  )
}

/** Each name once, the best first. */
function askColumn(
  { answers }: Init,
  flag: string,
  message: string,
  names: readonly string[],
  given?: string,
): Promise<string> {
  return answers.choose({
    flag,
    given,
    what: 'a column',
    message,
    choices: [...new Set(names)].map((name) => ({ value: name, name: printable(name) })),
  })
}
