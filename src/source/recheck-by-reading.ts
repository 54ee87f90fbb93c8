import { incomplete } from './incomplete.ts'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Recheck } from '../core/entries/recheck.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import { isNotice } from '../core/notice.ts'

/** The recheck of a source without a filter. Throws where an entry was unreadable, because it may be any of these. */
export async function recheckByReading(
  kind: Kind,
  ids: readonly string[],
  read: () => Promise<SourceSnapshot>,
): Promise<ReadonlyMap<string, Recheck>> {
  if (ids.length === 0) return new Map()
  const { covers, seen, unreadable, notices } = await read()
  if (unreadable > 0) {
    const first = notices.find((notice) => isNotice(notice, 'unreadable'))
    const why = first === undefined ? '' : `, because of ${first.params.from}: ${first.params.fault}`
    throw incomplete(`no entry can be proved absent${why}`)
  }
  // Groups that the source does not cover are unknown, so none is absent.
  const isProof = kind === 'user' || covers.groups
  const rechecks = new Map<string, Recheck>()
  const judge = (id: string) =>
    rechecks.set(id, { state: isProof && !seen[kind].has(id) ? 'absent' : 'present' })
  await inTurns(forEachInSteps(ids, judge))
  return rechecks
}
