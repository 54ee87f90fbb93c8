import { includesSorted } from '../../base/sorting.ts'
import { type Steps, forEachInSteps } from '../../base/steps.ts'
import { canonicalEmail, canonicalName } from '../entries/normalize.ts'
import type { Kind } from '../entries/entry.ts'
import { isMember, type Key } from '../keys.ts'
import type { Differences } from './differences.ts'

/**
 * The proof that a change ended. `source`: the source shows something else. `unjudged`: the same of an entry that is
 * excluded or has no usable value. `directory`: the directory has the change, or neither side has the entry; only a
 * complete run proves that. A value that is not read, or that the configuration leaves out, is no proof.
 */
type End = 'source' | 'unjudged' | 'directory' | undefined

export function* endsIn(wanted: Differences): Steps<(key: Key) => End> {
  // A name that is not resolved may be that of any user, who was renamed during the read.
  const doubted = new Set<string | undefined>()
  yield* forEachInSteps(wanted.snapshots.source.notices, ({ code, id }) => {
    if (code === 'unknown-members') doubted.add(id)
  })
  return (key) => {
    if (wanted.has(key)) return undefined
    if (isGone(wanted, key)) return 'directory'
    const isJudged = canJudge(wanted, key)
    if (!isContradicted(wanted, key)) return isJudged && isDone(wanted, key) ? 'directory' : undefined
    if (!isJudged) return 'unjudged'
    return key[2] === '+member' && doubted.has(key[1]) ? 'directory' : 'source'
  }
}

/** Neither side has the entry, or the user of a membership. */
function isGone({ snapshots: { source, directory } }: Differences, [kind, id, field, user]: Key): boolean {
  const isNowhere = (of: Kind, each: string): boolean =>
    !(of === 'user' ? directory.users : directory.groups).has(each) && !source.seen[of].has(each)
  if (isMember(field) && isNowhere('user', user!)) return true
  return isNowhere(kind, id) && (kind === 'user' || source.covers.groups)
}

function canJudge(wanted: Differences, [kind, id, field, user]: Key): boolean {
  return !wanted.isUnjudged(kind, id) && !(isMember(field) && wanted.isUnjudged('user', user!))
}

function isDone(wanted: Differences, key: Key): boolean {
  const [kind, id, field, value] = key
  if (field === 'name' || field === 'email') return valueIn('directory', wanted, key) === value
  if (!isMember(field)) return wanted.isThere(kind, id) === (field === 'create')
  const members = wanted.snapshots.directory.groups.get(id)?.members ?? []
  return includesSorted(members, value!) === (field === '+member')
}

function isContradicted(wanted: Differences, key: Key): boolean {
  const [kind, id, field, value] = key
  const { source } = wanted.snapshots
  const members = source.covers.members ? source.groups.get(id)?.members : undefined
  switch (field) {
    case 'create':
      return false
    case 'leave':
    case 'delete':
      return source.seen[kind].has(id)
    case 'name':
    case 'email': {
      const shown = valueIn('source', wanted, key)
      return shown !== undefined && shown !== value
    }
    case '+member':
      // A group may hide all its members, or a user itself.
      if (members === undefined || members.length === 0) return false
      return source.seen.user.has(value!) && !includesSorted(members, value!)
    case '-member':
      return members !== undefined && includesSorted(members, value!)
  }
}

function valueIn(side: 'source' | 'directory', { snapshots }: Differences, [kind, id, field]: Key) {
  const { users, groups } = snapshots[side]
  if (field === 'email') {
    const email = users.get(id)?.email
    return email ? canonicalEmail(email) : undefined
  }
  const name = (kind === 'user' ? users : groups).get(id)?.name
  return name ? canonicalName(name) : undefined
}
