import type { Kind } from '../entries/entry.ts'
import type { Sighting } from '../entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../entries/snapshot.ts'
import { amount } from '../../base/wording.ts'
import type { Notice } from '../notice.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { PlannedChanges } from './changes.ts'

/** Few entries move between read and recheck; with more of them, the read was incomplete. */
const MOST_MISSED = 2
const MOST_MISSED_PERCENT = 1

function areMany(missed: number, all: number): boolean {
  return missed > MOST_MISSED && missed * 100 > all * MOST_MISSED_PERCENT
}

/** Throws `source-incomplete` when the recheck finds many entries within the filter that the read lacked. */
export function refuseIncompleteRead(
  source: SourceSnapshot,
  sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>,
): void {
  for (const kind of ['user', 'group'] as const) {
    const read = source.seen[kind].size
    const missed = [...sightings[kind]].filter(([, sighting]) => sighting === 'present')
    if (!areMany(missed.length, read)) continue
    throw new DirsyncdError(
      'source-incomplete',
      `the read of the source was incomplete: it has ${amount(read, kind)}, and a second look found ` +
        `${amount(missed.length, kind)} more that the filter selects or whose attributes the reader may not see, such as "${missed[0]?.[0]}"; nothing was changed`,
    )
  }
}

interface Planned {
  readonly directory: DirectorySnapshot
  readonly changes: Pick<PlannedChanges, 'countOf'>
}

/** More creates than these are not each looked up where the list is proved: that would double a first fill. */
const MOST_LOOKED_UP = 1000

/**
 * The kinds whose creates are looked up before they are sent. A kind is left out where its list was proved empty, or
 * where more than 1,000 are created on a proved list.
 *
 * @param before the entries of the source in the last complete run
 * @param lacksCreated the list lacks an entry that was created in the last 24 hours, or that is not known
 */
export function lookFirst(
  { directory, changes }: Planned,
  before: { readonly users: number; readonly groups: number } | undefined,
  lacksCreated: boolean,
): readonly Kind[] {
  const isProved = !directory.moved && !lacksCreated
  return (['user', 'group'] as const).filter((kind) => {
    const list = kind === 'user' ? 'users' : 'groups'
    const isEmpty = directory[list].size === 0 && (before?.[list] ?? 0) === 0
    return !isProved || !(isEmpty || changes.countOf(`create-${kind}`) > MOST_LOOKED_UP)
  })
}

/** Names each list of the directory that lacked many of the entries which the run was to create. */
export function incompleteDirectory(
  { directory, changes }: Planned,
  thereBefore: Readonly<Record<Kind, number>>,
): readonly Notice[] {
  const listed = { user: directory.users.size, group: directory.groups.size }
  return (['user', 'group'] as const).flatMap((kind): Notice[] => {
    const there = thereBefore[kind]
    const creates = changes.countOf(`create-${kind}`)
    if (!areMany(there, listed[kind] + creates)) return []
    return [{ kind, id: undefined, code: 'directory-incomplete', params: { there, creates } }]
  })
}
