import { type Company, type Draft, HOUR } from '../../company.ts'
import { limit, type Theme } from '../theme.ts'

export type Act = (company: Company, draft: Draft) => void

/** A theme whose steps are written down, for protections that matter only after certain runs. */
export function script(name: string, begin: (company: Company) => void, acts: readonly Act[]): Theme {
  return {
    name,
    begin,
    step: (company, draft, number) => {
      draft.ahead = HOUR
      acts[number]?.(company, draft)
    },
    isQuiet: true,
    steps: acts.length,
  }
}

export const NOTHING: Act = () => undefined

/** From its second step on, guards hold updates and deletes of users. */
export function heldScript(
  name: string,
  [first, second = NOTHING, ...others]: readonly [Act, ...Act[]],
): Theme {
  const held: Act = (company, draft) => {
    hold(company)
    second(company, draft)
  }
  return script(name, () => undefined, [first, held, ...others])
}

export function hold(company: Company): void {
  limit(company, 'users', { maxDeletes: 0, maxUpdates: 0 })
}

export function letGo(company: Company): void {
  limit(company, 'users', { maxDeletes: 50, maxUpdates: null })
}

export function change(
  company: Company,
  id: string,
  values: { readonly name?: string; readonly email?: string },
): void {
  Object.assign(company.users.get(id)!, values)
}

export const hideFirst: Act = (_company, draft) => void draft.hidden.user.add('u0')

export function lastGroup({ groups }: Company) {
  return [...groups.values()].at(-1)!
}
