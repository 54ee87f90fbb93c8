import type { FoundColumn } from './discover.ts'
import { columnKey } from './header.ts'

/** The ids of the users or of the groups, in their own file. */
export interface KnownIds {
  readonly column: string
  /** Left out where not all of them are known. */
  readonly values: ReadonlySet<string> | undefined
}

export interface MemberColumns {
  readonly group: string
  readonly user: string
  /** Names and values agree, and nothing contradicts. */
  readonly isCertain: boolean
}

interface Scored extends Omit<MemberColumns, 'isCertain'> {
  readonly names: number
  readonly values: number
}

type Column = Pick<FoundColumn, 'name' | 'values'>

const GROUP = /group|team|role|department/i
const USER = /user|person|member|employee/i

/** A column of ids has at least this share of known ids. */
const MOST = 0.5

/** The columns of groups and users, the best first, unless `given`. Never one column for both. */
export function memberColumns(
  columns: readonly Column[],
  ids: { readonly users: KnownIds; readonly groups: KnownIds },
  given: { readonly group?: string | undefined; readonly user?: string | undefined } = {},
): readonly MemberColumns[] {
  const isOfGroups = nameTest(ids.groups, ids.users, (name) => GROUP.test(name))
  const isOfUsers = nameTest(ids.users, ids.groups, (name) => USER.test(name) && !GROUP.test(name))
  const pairs = columns.flatMap((group) =>
    columns.flatMap((user) => {
      if (columnKey(user.name) === columnKey(group.name)) return []
      if (group.name !== (given.group ?? group.name) || user.name !== (given.user ?? user.name)) return []
      const shares = [shareOf(group, ids.groups), shareOf(user, ids.users)]
      const names = isOfGroups(group.name) + isOfUsers(user.name)
      const values = shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)
      const fits = shares.every((share) => share === undefined || share >= MOST)
      return [{ group: group.name, user: user.name, names, values, fits }]
    }),
  )
  const fitting = pairs.filter(({ fits }) => fits)
  const isGiven = given.group !== undefined && given.user !== undefined
  return pairs
    .toSorted((a, b) => Number(b.fits) - Number(a.fits) || b.values - a.values || b.names - a.names)
    .map((pair) => ({
      group: pair.group,
      user: pair.user,
      // A third column with a fitting name, whose ids are in no other file, is a doubt too.
      isCertain:
        isGiven ||
        (pair.fits &&
          fitting.every((other) => other === pair || isBetter(pair, other)) &&
          pairs.every((other) => other.names <= pair.names || isSwapped(other, pair))),
    }))
}

function isSwapped(one: Scored, other: Scored): boolean {
  return one.group === other.user && one.user === other.group
}

/** Better by names or by values, and worse by neither. A file without values proves nothing. */
function isBetter(one: Scored, other: Scored): boolean {
  if (one.names < other.names || one.values < other.values) return false
  return one.names > other.names || one.values > other.values
}

/** 2 for the name of the ids in their own file, 1 for a similar one. */
function nameTest({ column }: KnownIds, others: KnownIds, soundsSo: (name: string) => boolean) {
  const own = columnKey(column)
  const isOwn = own !== columnKey(others.column)
  return (name: string) => (isOwn && columnKey(name) === own ? 2 : Number(soundsSo(name)))
}

/** The share of known ids; `undefined` where the ids are unknown. */
function shareOf({ values }: Column, ids: KnownIds): number | undefined {
  if (ids.values === undefined || values.size === 0) return undefined
  let known = 0
  for (const value of values) if (ids.values.has(value)) known += 1
  return known / values.size
}
