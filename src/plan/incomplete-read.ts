import type { Kind } from '../directory/entry.ts'
import type { Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import { amount } from '../directory/wording.ts'
import { DirsyncdError } from '../errors.ts'

/** Few entries move between the two looks; more than these mean that the first look was incomplete. */
const MOST_SEEN_AGAIN = 2
const MOST_SEEN_AGAIN_PERCENT = 1

/** Throws `source-incomplete` when the second look finds many entries within the filter that the first look missed. */
export function refuseIncompleteRead(
  source: SourceSnapshot,
  sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>,
): void {
  for (const kind of ['user', 'group'] as const) {
    const read = source.seen[kind].size
    const missed = [...sightings[kind]].filter(([, sighting]) => sighting === 'present')
    if (missed.length <= MOST_SEEN_AGAIN || missed.length * 100 <= read * MOST_SEEN_AGAIN_PERCENT) continue
    throw new DirsyncdError(
      'source-incomplete',
      `the read of the source was incomplete: it has ${amount(read, kind)}, and a second look found ` +
        `${amount(missed.length, kind)} more that the filter selects or whose attributes the reader may not see, such as "${missed[0]?.[0]}"; nothing was changed`,
    )
  }
}
