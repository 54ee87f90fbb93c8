import { Problem } from '../problem.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function readCredentials(
  _deps: HandlerDeps,
  _call: Call<'readCredentials'>,
): Promise<Answer<'readCredentials'>> {
  throw new Problem('internal', 'Not there yet.')
}

export async function resetPassword(
  _deps: HandlerDeps,
  _call: Call<'resetPassword'>,
): Promise<Answer<'resetPassword'>> {
  throw new Problem('internal', 'Not there yet.')
}
