import type { Story } from '../../../operations/story.ts'
import { pointInTime } from '../../../base/wording.ts'
import { fingerprint, type Op } from '../../../core/plan/change.ts'
import { type Case, DONE, lastDone, titleOf } from './case.ts'

/** The entry's last change was an undo, and the next run would repeat what was undone. */
export function undone(facts: Story): Case | undefined {
  const { planned, sync, completedRun } = facts
  const last = lastDone(facts)
  if (last === undefined || last.undoes === null || planned === undefined) return undefined
  if (completedRun !== null && completedRun > last.run) return undefined
  const again = fingerprint(planned)
  const done = facts.journal.filter(({ outcome }) => DONE.has(outcome))
  const did = done.some((line) => line.run === last.undoes && line.fingerprint === again)
  const back = done.find(({ run, op }) => run === last.run && op === BACK[planned.op])
  if (!did || back === undefined) return undefined
  const title = titleOf(facts)
  const what = back.op.startsWith('delete') ? `deleted ${title} again` : `put ${title} back`
  return {
    code: 'undone',
    why: `Run ${back.run} ${what} ${pointInTime(back.at)}, when it undid run ${last.undoes}; the source still wants what run ${last.undoes} did`,
    todo: `Correct the source or the configuration; dirsyncd plan ${sync} shows whether the next run would do it again`,
  }
}

const BACK: Readonly<Record<Op, Op>> = {
  'create-user': 'delete-user',
  'create-group': 'delete-group',
  'update-user': 'update-user',
  'update-group': 'update-group',
  'delete-user': 'create-user',
  'delete-group': 'create-group',
  'set-members': 'set-members',
}
