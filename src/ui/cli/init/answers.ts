import { DirsyncdError, type ErrorCode, sentence } from '../../../base/errors.ts'
import type { Check, Choice, Prompts } from './prompts.ts'

interface Question {
  /** The option that answers it, such as `--url`; also the question's key. */
  readonly flag: string
  /** Such as `the address of the server`. */
  readonly what: string
  readonly message: string
}

interface TextQuestion extends Question {
  readonly given: string | undefined
  readonly proposed?: string | undefined
  /** The proposal is a text to edit, because an empty text is an answer too. */
  readonly mayBeEmpty?: boolean
  readonly check?: Check
}

interface ChoiceQuestion<Value> extends Question {
  readonly given: Value | undefined
  /** The first one is proposed, unless the question has no usual answer. */
  readonly choices: readonly Choice<Value>[]
  readonly hasProposal?: boolean
}

interface SeveralQuestion<Value> extends Question {
  readonly choices: readonly Choice<Value>[]
  readonly proposed?: readonly Value[]
  readonly mayBeNone?: boolean
}

interface YesQuestion extends Question {
  readonly given: boolean | undefined
  readonly proposed: boolean
}

interface AnswersParts {
  /** Left out without a terminal. */
  readonly prompts: Prompts | undefined
  readonly yes: boolean
  readonly isJson: boolean
  readonly signal: AbortSignal
  readonly onProblem: (sentence: string) => void
}

type Again = (code: ErrorCode) => readonly string[] | Promise<readonly string[]>

/** Answers from the options, then the proposals, then the operator. */
export class Answers {
  readonly #parts: AnswersParts
  readonly #known = new Map<string, unknown>()
  readonly #again = new Set<string>()

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  get hasPerson(): boolean {
    return this.#parts.prompts !== undefined
  }

  async text({ given, proposed, mayBeEmpty = false, check, ...question }: TextQuestion): Promise<string> {
    const known = this.#knownOf(question.flag, given)
    if (known !== undefined) return this.#checked(question.flag, known, check)
    if (proposed !== undefined && this.#takesProposals(question)) return this.#keep(question.flag, proposed)
    const before = this.#known.get(question.flag) ?? given ?? (mayBeEmpty ? proposed : undefined)
    const { message } = question
    const asked = {
      message,
      ...(typeof before === 'string' ? { before } : proposed !== undefined && { proposed }),
      ...(check && { check }),
    }
    return this.#keep(question.flag, await this.#prompts(question, proposed).text(asked, this.#parts.signal))
  }

  async choose<Value>({
    given,
    choices,
    hasProposal = true,
    ...question
  }: ChoiceQuestion<Value>): Promise<Value> {
    const known = this.#knownOf(question.flag, given)
    if (known !== undefined) return known
    const [first] = hasProposal ? choices : []
    if (first !== undefined && this.#takesProposals(question)) return this.#keep(question.flag, first.value)
    const before = (this.#known.get(question.flag) as Value | undefined) ?? given
    const asked = { message: question.message, choices, ...(before !== undefined && { before }) }
    return this.#keep(question.flag, await this.#prompts(question, first).choose(asked, this.#parts.signal))
  }

  /** There is no usual answer unless some are proposed. */
  async chooseSeveral<Value>({
    choices,
    proposed,
    mayBeNone = false,
    ...question
  }: SeveralQuestion<Value>): Promise<readonly Value[]> {
    const known = this.#knownOf<readonly Value[]>(question.flag, undefined)
    if (known !== undefined) return known
    const isNothingProposed = proposed?.length === 0 && !this.hasPerson
    if (proposed !== undefined && (isNothingProposed || this.#takesProposals(question)))
      return this.#keep(question.flag, proposed)
    const before = (this.#known.get(question.flag) as readonly Value[] | undefined) ?? proposed ?? []
    const prompts = this.#prompts(question, proposed)
    const asked = { message: question.message, choices, before, mayBeNone }
    return this.#keep(question.flag, await prompts.chooseSeveral(asked, this.#parts.signal))
  }

  async confirm({ given, proposed, ...question }: YesQuestion): Promise<boolean> {
    const known = this.#knownOf(question.flag, given)
    if (known !== undefined) return known
    if (this.#takesProposals(question)) return this.#keep(question.flag, proposed)
    const { message } = question
    const prompts = this.#prompts(question, proposed)
    return this.#keep(question.flag, await prompts.confirm({ message, proposed }, this.#parts.signal))
  }

  /** A secret is typed at a terminal only; an option names its place. */
  async secret(question: Question): Promise<string> {
    const known = this.#knownOf<string>(question.flag, undefined)
    if (known !== undefined) return known
    const { message } = question
    return this.#keep(
      question.flag,
      await this.#prompts(question, undefined).secret({ message }, this.#parts.signal),
    )
  }

  isAskedAgain(flag: string): boolean {
    return this.#again.has(flag)
  }

  isOpen(flag: string): boolean {
    return !this.#known.has(flag) && !this.#again.has(flag)
  }

  forget(flags: readonly string[]): void {
    for (const flag of flags) this.#again.add(flag)
  }

  forgetAnswer(flag: string): void {
    this.#known.delete(flag)
  }

  /** Shows each error and asks again. Without a terminal, or with `--yes`, the first error is final. */
  async untilItWorks<Value>(again: Again, attempt: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const { yes, signal } = this.#parts
        if (!(error instanceof DirsyncdError) || !this.hasPerson || yes || signal.aborted) throw error
        if (FINAL.has(error.code)) throw error
        this.#parts.onProblem(sentence(error))
        this.forget(await again(error.code))
      }
    }
  }

  #knownOf<Value>(flag: string, given: Value | undefined): Value | undefined {
    if (this.#again.has(flag)) return undefined
    return (this.#known.get(flag) as Value | undefined) ?? given
  }

  #keep<Value>(flag: string, value: Value): Value {
    this.#again.delete(flag)
    this.#known.set(flag, value)
    return value
  }

  #checked(flag: string, value: string, check: Check | undefined): string {
    const problem = check?.(value)
    if (problem === undefined) return value
    throw new DirsyncdError('usage', `${flag} ${problem}.`)
  }

  #takesProposals({ flag }: Question): boolean {
    return this.#parts.yes && !this.#again.has(flag)
  }

  #prompts(question: Question, proposed: unknown): Prompts {
    return this.#parts.prompts ?? this.refuse(question, proposed)
  }

  refuse({ flag, what }: Pick<Question, 'flag' | 'what'>, proposed?: unknown): never {
    const why = this.#parts.isJson ? 'With --json nobody is asked' : 'There is no terminal on which to ask'
    // Questions that share an option have keys such as `--csv-groups (id)`.
    const give = flag.includes(' ') ? [] : [`give it with ${flag}`]
    const take = proposed === undefined ? [] : ['take what is proposed with --yes']
    throw new DirsyncdError('usage', `${why} for ${what}; ${[...give, ...take].join(', or ')}.`)
  }
}

const FINAL: ReadonlySet<ErrorCode> = new Set(['usage', 'interrupted', 'internal'])
