import { Problem } from '../problem.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function listOrganizationGroups(
  _deps: HandlerDeps,
  _call: Call<'listOrganizationGroups'>,
): Promise<Answer<'listOrganizationGroups'>> {
  throw new Problem('internal', 'Not there yet.')
}

export async function getOrganizationGroup(
  _deps: HandlerDeps,
  _call: Call<'getOrganizationGroup'>,
): Promise<Answer<'getOrganizationGroup'>> {
  throw new Problem('internal', 'Not there yet.')
}
