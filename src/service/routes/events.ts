import { Problem } from '../problem.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function listEvents(
  _deps: HandlerDeps,
  _call: Call<'listEvents'>,
): Promise<Answer<'listEvents'>> {
  throw new Problem('internal', 'Not there yet.')
}
