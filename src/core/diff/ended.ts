import { includesSorted } from '../../base/sorting.ts'
import { canonicalEmail, canonicalName } from '../entries/normalize.ts'
import { isMember, type Key } from '../keys.ts'
import type { Differences } from './differences.ts'

/**
 * What proves in a complete run that a change is not wanted any more: the source shows something else, or the directory
 * has it, or neither has the entry. What the source does not show, or the configuration leaves out, proves nothing.
 */
export function endOf(wanted: Differences, key: Key): 'source' | 'directory' | undefined {
  if (!isJudged(wanted, key)) return undefined
  if (isContradicted(wanted, key)) return 'source'
  return isDone(wanted, key) || isGone(wanted, key) ? 'directory' : undefined
}

function isJudged(wanted: Differences, key: Key): boolean {
  const [kind, id, field, user] = key
  if (wanted.has(key) || wanted.isUnjudged(kind, id)) return false
  return !isMember(field) || !wanted.isUnjudged('user', user!)
}

function isDone(wanted: Differences, key: Key): boolean {
  const [kind, id, field, value] = key
  const { groups } = wanted.snapshots.directory
  switch (field) {
    case 'create':
      return false
    case 'leave':
    case 'delete':
      return !wanted.isThere(kind, id)
    case 'name':
    case 'email':
      return valueIn('directory', wanted, key) === value
    case '+member':
    case '-member':
      return includesSorted(groups.get(id)?.members ?? [], value!) === (field === '+member')
  }
}

function isContradicted(wanted: Differences, key: Key): boolean {
  const [kind, id, field, value] = key
  const { source } = wanted.snapshots
  const members = source.covers.members ? source.groups.get(id)?.members : undefined
  switch (field) {
    case 'create':
      return wanted.isThere(kind, id)
    case 'leave':
    case 'delete':
      return source.seen[kind].has(id)
    case 'name':
    case 'email': {
      const shown = valueIn('source', wanted, key)
      return shown !== undefined && shown !== value
    }
    case '+member': {
      // A group may hide all its members, or a user itself.
      if (members === undefined || members.length === 0 || includesSorted(members, value!)) return false
      return source.seen.user.has(value!) || !wanted.isThere('user', value!)
    }
    case '-member':
      return members !== undefined && includesSorted(members, value!)
  }
}

function isGone(wanted: Differences, [kind, id]: Key): boolean {
  const { seen, covers } = wanted.snapshots.source
  return !wanted.isThere(kind, id) && !seen[kind].has(id) && (kind === 'user' || covers.groups)
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
