import type { Kind } from '../../entries/entry.ts'

/** A run created an entry, or may have created it, or deleted it. */
export interface LaterAttempt {
  readonly kind: Kind
  readonly id: string
  readonly run: number
  readonly does: 'create' | 'delete'
  readonly undoes: number | null
}

/** An undo cancels the attempts of its run, so several runs can be undone, the newest first. */
export class LaterAttempts {
  readonly #run: number
  readonly #byKind: Readonly<Record<Kind, Map<string, Standing>>> = { user: new Map(), group: new Map() }

  /** @param attempts those after `run`, in the order of time */
  constructor(run: number, attempts: Iterable<LaterAttempt>) {
    this.#run = run
    for (const attempt of attempts) this.#add(attempt)
  }

  /** The last attempt that was not undone: an existing entry is another one than the run knew. */
  of(kind: Kind, id: string): LaterAttempt | undefined {
    return this.#byKind[kind].get(id)?.attempts.at(-1)
  }

  isPutBack(kind: Kind, id: string): boolean {
    const last = this.of(kind, id)
    return last?.does === 'create' && last.undoes === this.#run
  }

  #add(attempt: LaterAttempt): void {
    const { kind, id, does, undoes } = attempt
    const { attempts = [], last } = this.#byKind[kind].get(id) ?? {}
    this.#byKind[kind].set(id, { attempts, last: attempt })
    // An undo was restarted, because the outcome of the attempt was unknown.
    if (undoes !== null && last?.undoes === undoes && last.does === does) return
    if (undoes !== null && attempts.at(-1)?.run === undoes) attempts.pop()
    else attempts.push(attempt)
  }
}

/** The attempts on one entry that were not undone, and the last one of all. */
interface Standing {
  readonly attempts: LaterAttempt[]
  readonly last: LaterAttempt
}
