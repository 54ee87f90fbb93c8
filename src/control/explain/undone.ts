import { pointInTime } from '../../directory/wording.ts'
import { type Case, lastDone, titleOf, type VerdictFacts } from './case.ts'

/** The last thing that was done with the entry was an undo, and the source still wants what was undone. */
export function undone(facts: VerdictFacts): Case | undefined {
  const last = lastDone(facts)
  if (last === undefined || last.undoes === null || facts.planned === undefined) return undefined
  const { run, undoes, op, at } = last
  const title = titleOf(facts)
  const did = op.startsWith('delete') ? `deleted ${title} again` : `put ${title} back`
  return {
    code: 'undone',
    why: `Run ${run} ${did} ${pointInTime(at)}, when it undid run ${undoes}; the source still wants what run ${undoes} did`,
    todo: `Correct the source or the configuration; dirsyncd plan ${facts.sync} shows whether the next run would do it again`,
  }
}
