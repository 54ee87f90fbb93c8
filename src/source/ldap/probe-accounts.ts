import { EqualityFilter, type Filter } from 'ldapts'
import { amount, digits } from '../../base/wording.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { ProbeLine } from '../source.ts'
import type { CompiledOptions, UserPlace } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { bothOf, parseFilter } from './filter.ts'
import { searchAll } from './search.ts'

/** Reports accounts in the users' filter besides people who can log in. */
export async function probeAccounts(
  connection: LdapConnection,
  { users, profile, pageSize }: CompiledOptions,
): Promise<ProbeLine[]> {
  const count = (filter: Filter) => countWithin(connection, users, filter, pageSize)
  return [
    ...(users.disabled !== undefined && (await count(users.disabled.filter)) === 0 ? [NOBODY_DISABLED] : []),
    ...(users.disabled === undefined && profile.disabledWhen !== undefined
      ? disabledLines(await count(parseFilter(profile.disabledWhen, 'users.disabledWhen')))
      : []),
    ...computerLines(await count(new EqualityFilter({ attribute: 'objectClass', value: 'computer' }))),
  ]
}

const NOBODY_DISABLED: ProbeLine = {
  label: 'disabled',
  detail: 'the rule of disabled accounts (users.disabledWhen) finds nobody',
  level: 'info',
}

function disabledLines(count: number | undefined): ProbeLine[] {
  if (count === undefined || count === 0) return []
  const who = count === 1 ? '1 user cannot log in and is' : `${digits(count)} users cannot log in and are`
  const detail = `${who} kept like everybody else (users.disabled: keep); "skip" leaves such accounts as they are, "delete" treats them as gone`
  return [{ label: 'disabled', detail, level: 'info' }]
}

/** In Active Directory a computer is a kind of user, so that a filter for users finds computers too. */
function computerLines(count: number | undefined): ProbeLine[] {
  if (count === undefined || count === 0) return []
  const detail = `the filter lets ${amount(count, 'computer')} in; (objectCategory=person) in it keeps them out`
  return [{ label: 'computers', detail, level: 'warn' }]
}

/** `undefined` where the server does not answer: the read reports it then. */
async function countWithin(
  connection: LdapConnection,
  users: UserPlace,
  filter: Filter,
  pageSize: number | undefined,
): Promise<number | undefined> {
  const found = new Set<string>()
  const both = bothOf(users.filter, filter)
  const search = { ...users, filter: both, filterText: both.toString(), attributes: [], pageSize }
  try {
    for (const base of users.bases)
      await searchAll(connection, { ...search, base }, ({ dn }) => void found.add(dn))
    return found.size
  } catch (error) {
    if (error instanceof DirsyncdError && error.code === 'source-incomplete') return undefined
    throw error
  }
}
