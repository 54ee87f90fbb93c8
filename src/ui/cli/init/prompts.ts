import type { Readable, Writable } from 'node:stream'
import { DirsyncdError } from '../../../base/errors.ts'

export interface Choice<Value> {
  readonly value: Value
  readonly name: string
  /** Shown after the choice; default: the name. */
  readonly short?: string
}

/** Returns one sentence, or `undefined` for a good answer. */
export type Check = (value: string) => string | undefined

/** All reject with `interrupted` at Ctrl-C and at the signal. */
export interface Prompts {
  text(
    question: {
      readonly message: string
      readonly proposed?: string
      /** The previous answer, to be edited. */
      readonly before?: string
      readonly check?: Check
    },
    signal: AbortSignal,
  ): Promise<string>
  secret(question: { readonly message: string }, signal: AbortSignal): Promise<string>
  choose<Value>(
    question: {
      readonly message: string
      readonly choices: readonly Choice<Value>[]
      readonly before?: Value
    },
    signal: AbortSignal,
  ): Promise<Value>
  chooseSeveral<Value>(
    question: {
      readonly message: string
      readonly choices: readonly Choice<Value>[]
      readonly before: readonly Value[]
      readonly mayBeNone: boolean
    },
    signal: AbortSignal,
  ): Promise<readonly Value[]>
  confirm(
    question: { readonly message: string; readonly proposed: boolean },
    signal: AbortSignal,
  ): Promise<boolean>
}

/** Loads the prompt library with the first question. */
export function promptsOn({
  input,
  output,
}: {
  readonly input: Readable
  readonly output: Writable
}): Prompts {
  const context = (signal: AbortSignal) => ({ input, output, signal })
  return {
    text: (question, signal) => askText(question, context(signal)),
    secret: ({ message }, signal) =>
      interruptible(async () =>
        (await load()).password(
          { message, mask: '*', validate: (value) => value !== '' || 'It must not be empty.' },
          context(signal),
        ),
      ),
    choose: ({ message, choices, before }, signal) =>
      interruptible(async () =>
        (await load()).select(
          {
            message,
            choices: [...choices],
            ...listOn(output),
            ...(before !== undefined && { default: before }),
          },
          context(signal),
        ),
      ),
    chooseSeveral: ({ message, choices, before, mayBeNone }, signal) =>
      interruptible(async () =>
        (await load()).checkbox(
          {
            message,
            choices: choices.map((choice) => boxOf(choice, before)),
            ...listOn(output),
            required: !mayBeNone,
          },
          context(signal),
        ),
      ),
    confirm: ({ message, proposed }, signal) =>
      interruptible(async () => (await load()).confirm({ message, default: proposed }, context(signal))),
  }
}

type TextQuestion = Parameters<Prompts['text']>[0]

interface Context {
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
}

async function askText(
  { message, proposed, before, check }: TextQuestion,
  context: Context,
): Promise<string> {
  const mayBeEmpty = before !== undefined && check?.('') === undefined
  let [typed, isEmptied] = ['', false]
  const value = await interruptible(async () =>
    (await load()).input(
      {
        message,
        ...(proposed !== undefined && { default: proposed }),
        ...(before !== undefined && { default: before, prefill: 'editable' as const }),
        // The library takes the default for an empty text.
        ...(mayBeEmpty && {
          transformer: (text: string, { isFinal }: { readonly isFinal: boolean }) => {
            if (!isFinal) typed = text
            return isFinal && isEmptied ? '' : text
          },
        }),
        validate: (answer) => {
          isEmptied = mayBeEmpty && typed === ''
          const problem = check?.(isEmptied ? '' : answer.trim())
          return problem === undefined || `It ${problem}.`
        },
      },
      context,
    ),
  )
  return isEmptied ? '' : value.trim()
}

function listOn(output: Writable): { readonly pageSize: number; readonly loop: false } {
  const { rows } = output as { readonly rows?: number }
  return { pageSize: Math.max((rows || 24) - 6, 7), loop: false }
}

function boxOf<Value>(choice: Choice<Value>, before: readonly Value[]) {
  return { ...choice, short: choice.short ?? choice.name.trim(), checked: before.includes(choice.value) }
}

function load() {
  return import('@inquirer/prompts')
}

/** Errors of the library for Ctrl-C, the end of the input and the signal. */
const ENDINGS: ReadonlySet<string> = new Set(['ExitPromptError', 'AbortPromptError'])

async function interruptible<Value>(ask: () => Promise<Value>): Promise<Value> {
  const endOfInput = Promise.withResolvers<never>()
  // After Ctrl-D the library never settles, and nothing keeps the process.
  const end = () => endOfInput.reject(interrupted())
  process.once('beforeExit', end)
  try {
    return await Promise.race([ask(), endOfInput.promise])
  } catch (error) {
    throw error instanceof Error && ENDINGS.has(error.name) ? interrupted(error) : error
  } finally {
    process.off('beforeExit', end)
  }
}

function interrupted(cause?: Error): DirsyncdError {
  return new DirsyncdError('interrupted', 'Interrupted at a question.', { cause })
}
