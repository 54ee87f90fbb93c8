import type { Log } from '../base/log/log.ts'
import { type Decided as Answer, earlierPauseText } from './control.ts'
import type { LocalControl } from './local.ts'

/** Without the reason, which may name entries. */
interface Decided {
  readonly decision: 'approve' | 'reject' | 'withdraw' | 'undo' | 'pause' | 'resume' | 'release'
  readonly by: string
  readonly sync?: string | undefined
  readonly run?: number
  readonly changes?: number
  /** How many values and memberships of entries. */
  readonly keys?: number
}

export function loggingDecisions(control: LocalControl, log: Log): LocalControl {
  const logging =
    <A extends { readonly by: string }, R>(
      operation: (asked: A) => Promise<R>,
      decided: (asked: A, answer: R) => Omit<Decided, 'by'> | undefined,
    ) =>
    async (asked: A): Promise<R> => {
      const answer = await operation(asked)
      const fields = decided(asked, answer)
      if (fields !== undefined) log.info({ ...fields, by: asked.by }, 'an operator decided')
      return answer
    }
  return {
    ...control,
    approve: logging(control.approve, (_, answer) => decidedAbout(answer)),
    reject: logging(control.reject, (_, answer) => decidedAbout(answer)),
    undo: logging(control.undo, ({ mode, run }) => (mode === 'sync' ? { decision: 'undo', run } : undefined)),
    pause: logging(control.pause, (asked, { pause }) =>
      earlierPauseText(pause, asked) === undefined ? { decision: 'pause', sync: asked.sync } : undefined,
    ),
    resume: logging(control.resume, ({ sync }, pause) =>
      pause === null ? undefined : { decision: 'resume', sync },
    ),
    release: logging(control.release, ({ sync }, { length: changes }) =>
      changes === 0 ? undefined : { decision: 'release', sync, changes },
    ),
  }
}

function decidedAbout({ run: { sync, run }, decision: { does, keys } }: Answer): Omit<Decided, 'by'> {
  return { decision: does, sync, run, keys }
}
