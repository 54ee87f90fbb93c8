import { forEachInSteps, type Steps } from '../../../base/steps.ts'
import { canonicalEmail } from '../../entries/normalize.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../entries/snapshot.ts'
import type { Notice, NoticeCode, NoticeParams } from '../../notice.ts'
import type { Change } from '../change.ts'
import { isInPart, type Part } from '../part/part.ts'
import type { LaterAttempts } from './later-attempts.ts'

interface AdviceFacts {
  readonly run: number
  readonly part: Part
  readonly directory: Pick<DirectorySnapshot, 'users'>
  readonly later: LaterAttempts
  readonly users: SourceSnapshot['users']
}

/** Advice for users who do not get their e-mail back: why another user has it, and what helps. */
export class EmailAdvice {
  readonly #facts: AdviceFacts
  readonly #notices: readonly Notice[]
  /** By canonical e-mail, the run's change of the user who has it; only for the e-mails in question. */
  readonly #given = new Map<string, Change | undefined>()

  constructor(facts: AdviceFacts, notices: readonly Notice[]) {
    this.#facts = facts
    this.#notices = notices
    for (const notice of notices) {
      const email = this.#emailOf(notice)
      if (email !== undefined) this.#given.set(email, undefined)
    }
  }

  get isAsked(): boolean {
    return this.#given.size > 0
  }

  /** A change that the run made, or may have made. */
  add(change: Change): void {
    if (change.op !== 'create-user' && change.op !== 'update-user') return
    const email = canonicalEmail(change.want.email ?? '')
    if (this.#given.has(email) && this.#hasNow(change.id, email)) this.#given.set(email, change)
  }

  /** Without what is true of a source alone. Call it when the changes of the undone run are added, where that is asked. */
  *advised(): Steps<readonly Notice[]> {
    const { run } = this.#facts
    const ofUndo: Notice[] = []
    yield* forEachInSteps(this.#notices, (notice) => {
      if (OF_SOURCE.has(notice.code)) return
      if (notice.code === 'id-moved') ofUndo.push({ ...notice, params: { ...notice.params, undone: run } })
      else if (notice.code === 'email-swap')
        ofUndo.push({ ...notice, params: { ...notice.params, isUndo: true } })
      else ofUndo.push(this.#of(notice))
    })
    return ofUndo
  }

  #of(notice: Notice): Notice {
    const email = this.#emailOf(notice)
    if (notice.code !== 'duplicate-email' || email === undefined) return notice
    const undo = { run: this.#facts.run, why: this.#reason(email) }
    return { ...notice, params: { ...notice.params, undo } }
  }

  #reason(email: string): NonNullable<NoticeParams['duplicate-email']['undo']>['why'] {
    const given = this.#given.get(email)
    if (given === undefined) return 'other-run'
    if (!isInPart(this.#facts.part, given)) return 'other-part'
    return given.op === 'update-user' && !given.have.email ? 'had-none' : 'left'
  }

  /** Canonical; `undefined` where the notice is about something else. */
  #emailOf(notice: Notice): string | undefined {
    if (notice.code !== 'duplicate-email' || notice.params.how === 'shared') return undefined
    const email = this.#facts.users.get(notice.id ?? '')?.email
    return email === undefined ? undefined : canonicalEmail(email)
  }

  #hasNow(id: string, email: string): boolean {
    if (this.#facts.later.of('user', id) !== undefined) return false
    return canonicalEmail(this.#facts.directory.users.get(id)?.email ?? '') === email
  }
}

const OF_SOURCE: ReadonlySet<NoticeCode> = new Set(['no-email', 'new-id', 'other-id-form'])
