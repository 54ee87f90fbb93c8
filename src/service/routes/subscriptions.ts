import { Problem } from '../problem.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function listSubscriptions(
  _deps: HandlerDeps,
  _call: Call<'listSubscriptions'>,
): Promise<Answer<'listSubscriptions'>> {
  throw new Problem('internal', 'Not there yet.')
}

export async function getSubscription(
  _deps: HandlerDeps,
  _call: Call<'getSubscription'>,
): Promise<Answer<'getSubscription'>> {
  throw new Problem('internal', 'Not there yet.')
}

export async function updateSubscription(
  _deps: HandlerDeps,
  _call: Call<'updateSubscription'>,
): Promise<Answer<'updateSubscription'>> {
  throw new Problem('internal', 'Not there yet.')
}
