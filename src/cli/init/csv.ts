import { basename, resolve } from 'node:path'
import type { FoundCsv, RawCsv } from '../../compose/init.ts'
import { amount } from '../../directory/wording.ts'
import { DirsyncdError } from '../../errors.ts'
import { printable } from '../../printable.ts'
import { hang } from '../render/wrap.ts'
import { checkNotEmpty } from './check.ts'
import type { Init } from './context.ts'
import { askFields, askId, MAPPING_FLAGS, type Mapping } from './mapping.ts'
import { preview, RIGHT } from './preview.ts'
import type { Choice } from './prompts.ts'

/** Everything about a CSV source: the files, their format and their columns. */
export async function askCsv(init: Init): Promise<RawCsv> {
  const users = await askFile(init, USERS)
  if (users === undefined) throw new Error('the file of users is not optional')
  const groups = await askFile(init, GROUPS)
  const members = groups === undefined ? undefined : await askFile(init, MEMBERS)
  return init.answers.untilItWorks(
    () => AGAIN,
    async () => {
      const source: RawCsv = {
        type: 'csv',
        users: { ...formatOf(users), map: await askUserMap(init, users) },
        ...(groups && { groups: { ...formatOf(groups), map: await askGroupMap(init, groups) } }),
        ...(members && { members: { ...formatOf(members), map: await askMemberMap(init, members) } }),
      }
      await preview(init, source)
      return source
    },
  )
}

/** No options answer these: a proposal is nearly always right, and can be corrected in the file. */
const COLUMNS = {
  groupId: '--csv-groups (id)',
  groupName: '--csv-groups (name)',
  memberGroup: '--csv-members (group)',
  memberUser: '--csv-members (user)',
}

const AGAIN = [...MAPPING_FLAGS, ...Object.values(COLUMNS), RIGHT]

async function askGroupMap(init: Init, found: FoundCsv) {
  const { id, name } = init.steps.propose.groups(found)
  return {
    external_id: await askColumn(init, COLUMNS.groupId, 'Id of a group from:', id),
    name: await askColumn(init, COLUMNS.groupName, 'Name of a group from:', name),
  }
}

async function askMemberMap(init: Init, found: FoundCsv) {
  const { group, user } = init.steps.propose.members(found)
  return {
    group: await askColumn(init, COLUMNS.memberGroup, 'Id of the group from:', group),
    user: await askColumn(init, COLUMNS.memberUser, 'Id of the user from:', user),
  }
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

/** What can be asked again. */
export const CSV_TOPICS: readonly Choice<readonly string[]>[] = [
  { value: AGAIN, name: 'How the columns are mapped' },
  { value: [USERS.flag, GROUPS.flag, MEMBERS.flag, ...AGAIN], name: 'The files, and how they are mapped' },
]

/** `undefined` where there is no such file. Without a person, only the options name files. */
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

function show({ say, columns }: Init, { path, encoding, delimiter, rows, columns: found }: FoundCsv): void {
  const mark = delimiter === '\t' ? 'tabs' : `"${delimiter}"`
  say(`  ${basename(path)}: ${encoding}, columns with ${mark} between them, ${amount(rows, 'row')} looked at`)
  say(...hang('  columns: ', found.map(({ name }) => printable(name)).join(', '), columns))
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
  if (proposed.id.length === 0 && options.mapId === undefined && !init.answers.hasPerson)
    throw new DirsyncdError(
      'usage',
      `No column of ${users.path} has a value in each row that comes only once; name that of the id with --map-id.`,
    )
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

function askColumn(
  { answers }: Init,
  flag: string,
  message: string,
  names: readonly string[],
): Promise<string> {
  return answers.choose({
    flag,
    given: undefined,
    what: 'a column',
    message,
    choices: names.map((name) => ({ value: name, name: printable(name) })),
  })
}
