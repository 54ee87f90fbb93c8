import { canonicalEmail } from '../../directory/normalize.ts'
import type { DirectorySnapshot, Notice } from '../../directory/snapshot.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Change } from '../change.ts'
import { isInPart, type Part } from '../part/part.ts'
import type { LaterAttempts } from './later-attempts.ts'

interface AdviceFacts {
  /** The run that is undone. */
  readonly run: number
  readonly part: Part
  readonly directory: Pick<DirectorySnapshot, 'users'>
  readonly later: LaterAttempts
  /** The users as the undo wants them. */
  readonly users: PlanInputs['source']['users']
}

/** Tells of people who do not get their e-mail back why somebody else has it, and what helps. */
export class EmailAdvice {
  readonly #facts: AdviceFacts
  /** By the canonical e-mail, what the run did to whoever has it: of the e-mails that are asked about. */
  readonly #given = new Map<string, Change | undefined>()

  /** @param notices those of the plan */
  constructor(facts: AdviceFacts, notices: readonly Notice[]) {
    this.#facts = facts
    for (const notice of notices) {
      const email = this.#emailOf(notice)
      if (email !== undefined) this.#given.set(email, undefined)
    }
  }

  /** Whether there is anything to tell. */
  get isAsked(): boolean {
    return this.#given.size > 0
  }

  /** Takes a change that the run made, or may have made. */
  add(change: Change): void {
    if (change.op !== 'create-user' && change.op !== 'update-user') return
    const email = canonicalEmail(change.want.email ?? '')
    if (this.#given.has(email) && this.#hasNow(change.id, email)) this.#given.set(email, change)
  }

  /** The notice as an undo says it. */
  tell(notice: Notice): Notice {
    const email = this.#emailOf(notice)
    if (email === undefined) return notice
    return { ...notice, detail: notice.detail.replace(LEFT_OUT, `; ${this.#reason(email)}`) }
  }

  #reason(email: string): string {
    const { run, part } = this.#facts
    const given = this.#given.get(email)
    if (given === undefined)
      return `run ${run} did not give it that e-mail: undo the later run that did, or free the e-mail in the service, and then undo run ${run} again`
    const did = `run ${run} gave it that e-mail`
    if (!isInPart(part, given)) return `${did}: undo both together`
    if (given.op === 'update-user' && !given.have.email)
      return `${did}, it had none before, and no endpoint of the API takes one away`
    return `${did}, and this undo leaves it as it is`
  }

  /** The e-mail that somebody does not get, canonical; `undefined` where the notice is about something else. */
  #emailOf({ code, id = '', detail }: Notice): string | undefined {
    if (code !== 'duplicate-email' || !LEFT_OUT.test(detail)) return undefined
    const email = this.#facts.users.get(id)?.email
    return email === undefined ? undefined : canonicalEmail(email)
  }

  /** Whether it is the run's user who has the e-mail. */
  #hasNow(id: string, email: string): boolean {
    if (this.#facts.later.of('user', id) !== undefined) return false
    return canonicalEmail(this.#facts.directory.users.get(id)?.email ?? '') === email
  }
}

const LEFT_OUT = /; the rest of this user .*$/s
