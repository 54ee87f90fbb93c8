import type { AccessManagementClient } from '../api/client/client.ts'
import type { ListOptions, Page } from '../api/client/methods.ts'
import { PAGE } from '../api/contract/endpoints.ts'
import type { Kind } from '../core/entries/entry.ts'
import { digits } from '../base/wording.ts'

/** A test entry of `dirsyncd check` that was not deleted. */
export interface LeftBehind {
  readonly kind: Kind
  readonly id: string
}

/** A UUID follows. */
export const TRIAL_ID = 'dirsyncd-check-'
export const TRIAL_NAME = 'dirsyncd check, to be deleted'
const IS_TRIAL = new RegExp(`^${TRIAL_ID}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

/** The most pages of a list that are read: services list the oldest or the newest entries first. */
const MOST_PAGES = 10

/** Searches the first hundred entries of each kind and the last nine hundred. Groups come first. */
export async function findLeftBehind(
  client: AccessManagementClient,
  directoryId: number,
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const params = { directory_id: directoryId }
  const groups = await trialsOf((options) => client.listGroups(params, options), signal)
  const users = await trialsOf((options) => client.listUsers(params, options), signal)
  return [
    ...groups.map((id) => ({ kind: 'group', id }) as const),
    ...users.map((id) => ({ kind: 'user', id }) as const),
  ]
}

interface Listed {
  readonly external_id?: string | null | undefined
  readonly name?: string | null | undefined
}

async function trialsOf(
  list: (options: ListOptions) => Promise<Page<Listed>>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = new Set<string>()
  let page = 1
  for (let read = 1; ; read += 1) {
    const { items, total = 0, perPage = PAGE.max } = await list({ page, perPage: PAGE.max, signal })
    for (const { external_id: id, name } of items)
      if (id && IS_TRIAL.test(id) && name === TRIAL_NAME) found.add(id)
    const last = Math.ceil(total / perPage)
    if (page >= last || read >= MOST_PAGES) return [...found]
    page = page === 1 ? Math.max(2, last - MOST_PAGES + 2) : page + 1
  }
}

const NAMED = 4

export function leftBehindText(entries: readonly LeftBehind[]): string {
  const named = entries.slice(0, NAMED).map(({ kind, id }) => `the ${kind} ${id}`)
  const more = entries.length > NAMED ? [`${digits(entries.length - NAMED)} more`] : []
  const all = [...named, ...more]
  const text = all.length === 1 ? all.join() : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
  const were = entries.length === 1 ? 'was' : 'were'
  return `${text} ${were} made by dirsyncd to find something out, and not deleted again`
}
