import { DirsyncdError } from '../../../base/errors.ts'
import type { Init } from './context.ts'
import type { Choice } from './prompts.ts'

const AGAIN = 'again'
const NOTHING: readonly string[] = []

/** Only the operator knows which answer was wrong. Returns the questions to ask again. */
export async function askWhatAgain(
  { answers }: Init,
  topics: readonly Choice<readonly string[]>[],
): Promise<readonly string[]> {
  const flags = await answers.choose<readonly string[]>({
    flag: AGAIN,
    given: undefined,
    what: 'what was wrong',
    message: 'What should be asked again?',
    choices: [...topics, { value: NOTHING, name: 'Nothing: end here, and write nothing' }],
  })
  answers.forgetAnswer(AGAIN)
  if (flags === NOTHING) throw new DirsyncdError('interrupted', 'Ended without a configuration.')
  return flags
}
