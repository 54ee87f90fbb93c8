import type { Kind } from '../../directory/entry.ts'

/** A run created an entry, or may have created it, or deleted it. */
export interface LaterAttempt {
  readonly kind: Kind
  readonly id: string
  readonly run: number
  readonly does: 'create' | 'delete'
  /** The run that this one undid. */
  readonly undoes: number | null
}

/**
 * What later runs created and deleted. An undo of one of them takes its attempt back, so that whoever undoes several
 * runs, the newest first, finds each entry as the next one left it.
 */
export class LaterAttempts {
  readonly #run: number
  readonly #byKind: Readonly<Record<Kind, Map<string, Standing>>> = { user: new Map(), group: new Map() }

  /** @param attempts those after `run`, in the order of time */
  constructor(run: number, attempts: Iterable<LaterAttempt>) {
    this.#run = run
    for (const attempt of attempts) this.#add(attempt)
  }

  /** The last attempt that nothing took back: if the entry is in the directory, it is another one than the run knew. */
  of(kind: Kind, id: string): LaterAttempt | undefined {
    return this.#byKind[kind].get(id)?.attempts.at(-1)
  }

  /** Whether an undo of the run has created the entry again. */
  isPutBack(kind: Kind, id: string): boolean {
    const last = this.of(kind, id)
    return last?.does === 'create' && last.undoes === this.#run
  }

  #add(attempt: LaterAttempt): void {
    const { kind, id, does, undoes } = attempt
    const standing = this.#byKind[kind].get(id)
    if (standing === undefined) {
      this.#byKind[kind].set(id, { attempts: [attempt], last: attempt })
      return
    }
    const { attempts, last } = standing
    standing.last = attempt
    // An undo was begun again, because nobody knew what had come of the attempt.
    if (undoes !== null && last.undoes === undoes && last.does === does) return
    if (undoes !== null && attempts.at(-1)?.run === undoes) attempts.pop()
    else attempts.push(attempt)
  }
}

/** The attempts on one entry that nothing took back, and the last one of all. */
interface Standing {
  readonly attempts: LaterAttempt[]
  last: LaterAttempt
}

/** Why an entry that is in the directory is left alone after such an attempt. */
export function laterText({ does, run }: LaterAttempt): string {
  return does === 'create'
    ? `run ${run} created it since: left as it is; dirsyncd undo ${run} is about it`
    : `is there again after run ${run} deleted it: left as it is`
}
