import { randomUUID } from 'node:crypto'
import { isApiError } from '../client/api-error.ts'
import type { AccessManagementClient } from '../client/client.ts'
import { sentence } from '../errors.ts'
import type { Change } from '../plan/change.ts'
import { apiProblem } from './api-problem.ts'
import { applyChange } from './apply-change.ts'

/** What was found out with entries that were made for it. */
export interface Tried<Found> {
  /** `undefined` where it could not be found out. */
  readonly found: Found | undefined
  /** What the service said instead, in a sentence. */
  readonly detail: string | undefined
  /** What was made and could not be deleted again, in sentences. */
  readonly left: readonly string[]
}

const NAME = 'dirsyncd check, to be deleted'

/** How long deleting may take, also after the signal was aborted, in milliseconds. */
const DELETING_MS = 30_000

/** Where to try something, which leaves nothing there. */
export interface TryingOut {
  readonly client: AccessManagementClient
  readonly directoryId: number
  readonly signal: AbortSignal
}

/**
 * Finds out whether the service takes the members of groups, which its API does not describe: makes a user and a group
 * under a new id, writes the one into the other as a run would, looks, and deletes both. Rejects only when the signal is
 * aborted, after deleting.
 */
export function tryMembers(
  where: TryingOut,
): Promise<Tried<{ readonly isShown: boolean; readonly why?: string }>> {
  const { client, directoryId, signal } = where
  return tryOut(where, async (id, apply) => {
    await apply({ op: 'create-group', id, want: { name: NAME } })
    const refused = await refusalOf(apply({ op: 'set-members', id, name: NAME, have: [], want: [id] }))
    if (refused !== undefined) return { isShown: false, why: refused }
    const group = await client.getGroup({ directory_id: directoryId, external_id: id }, { signal })
    return { isShown: group.external_member_ids.includes(id) }
  })
}

/**
 * Finds out which of these domains the service takes e-mails of: gives one of each to a user that it makes and deletes.
 * Rejects as `tryMembers` does.
 */
export function tryDomains(where: TryingOut, domains: readonly string[]): Promise<Tried<readonly string[]>> {
  return tryOut(where, async (id, apply) => {
    const taken: string[] = []
    for (const domain of domains) {
      const email = `${id.slice(0, LONGEST_NAME)}@${domain}`
      const change = { op: 'update-user', id, have: { email: null, name: NAME }, want: { email } } as const
      if ((await refusalOf(apply(change))) === undefined) taken.push(domain)
    }
    return taken
  })
}

/** Of what stands before the @, in characters. */
const LONGEST_NAME = 64

async function tryOut<Found>(
  { client, directoryId, signal }: TryingOut,
  work: (id: string, apply: (change: Change) => Promise<unknown>) => Promise<Found>,
): Promise<Tried<Found>> {
  const id = `dirsyncd-check-${randomUUID()}`
  const applyBy = (by: AbortSignal) => (change: Change) =>
    applyChange(client, { directoryId }, change, { check: false }, by)
  let found: Found | undefined
  let detail: string | undefined
  try {
    await applyBy(signal)({ op: 'create-user', id, want: { name: NAME } })
    found = await work(id, applyBy(signal))
  } catch (error) {
    if (!signal.aborted) detail = sentence(apiProblem(error))
  }
  const left = await deleteBoth(id, (change) => applyBy(AbortSignal.timeout(DELETING_MS))(change))
  if (left.length === 0) signal.throwIfAborted()
  return { found, detail, left }
}

/** What the service said when it refused a change; `undefined` where it did it. */
async function refusalOf(change: Promise<unknown>): Promise<string | undefined> {
  try {
    await change
    return undefined
  } catch (error) {
    if (!isApiError(error, 'refused', 'conflict')) throw error
    return sentence(apiProblem(error))
  }
}

/** The group first: a service may keep a user who is in one. What was never made is gone already. */
async function deleteBoth(
  id: string,
  apply: (change: Change) => Promise<unknown>,
): Promise<readonly string[]> {
  const left: string[] = []
  const deletes: readonly Change[] = [
    { op: 'delete-group', id, have: { name: NAME, members: [] }, why: 'gone' },
    { op: 'delete-user', id, have: { email: null, name: NAME }, why: 'gone' },
  ]
  for (const change of deletes) {
    try {
      await apply(change)
    } catch (error) {
      const kind = change.op === 'delete-user' ? 'user' : 'group'
      left.push(
        `The ${kind} ${id} could not be deleted: ${sentence(apiProblem(error))} Delete it in the service.`,
      )
    }
  }
  return left
}
