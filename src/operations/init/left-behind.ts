import type { AccessManagementClient } from '../../api/client/client.ts'
import type { ListOptions, Page } from '../../api/client/methods.ts'
import { PAGE } from '../../api/contract/endpoints.ts'
import type { ExternalUser } from '../../api/contract/resources.ts'
import type { Kind } from '../../core/entries/entry.ts'
import { digits } from '../../base/wording.ts'

/** A test entry of `dirsyncd check` that was not deleted. */
export interface LeftBehind {
  readonly kind: Kind
  readonly id: string
}

/** In an id, a UUID follows. */
export const TRIAL = { id: 'dirsyncd-check-', name: 'dirsyncd check, to be deleted' }
const IS_TRIAL = new RegExp(`^${TRIAL.id}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

/** The most pages of a list that are read: services list the oldest or the newest entries first. */
const MOST_PAGES = 10

/** Searches the first hundred entries of each kind and the last nine hundred. Groups come first. */
export async function findLeftBehind(
  client: AccessManagementClient,
  directoryId: number,
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const params = { directory_id: directoryId }
  const groups = await trialsOf('group', (options) => client.listGroups(params, options), signal)
  const users = await trialsOf('user', (options) => client.listUsers(params, options), signal)
  return [...groups, ...users]
}

async function trialsOf(
  kind: Kind,
  list: (options: ListOptions) => Promise<Page<Pick<ExternalUser, 'external_id' | 'name'>>>,
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const found = new Set<string>()
  let page = 1
  for (let read = 1; ; read += 1) {
    const { items, total = 0, perPage = PAGE.max } = await list({ page, perPage: PAGE.max, signal })
    for (const { external_id: id, name } of items)
      if (id && IS_TRIAL.test(id) && name === TRIAL.name) found.add(id)
    const last = Math.ceil(total / perPage)
    if (page >= last || read >= MOST_PAGES) return [...found].map((id) => ({ kind, id }))
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
