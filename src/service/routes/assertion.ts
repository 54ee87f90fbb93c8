import { Problem } from '../problem.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function createAssertion(
  _deps: HandlerDeps,
  _call: Call<'createAssertion'>,
): Promise<Answer<'createAssertion'>> {
  throw new Problem('internal', 'Not there yet.')
}
