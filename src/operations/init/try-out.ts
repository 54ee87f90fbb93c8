import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type ApiError, isApiError } from '../../api/client/api-error.ts'
import type { AccessManagementClient } from '../../api/client/client.ts'
import { sentence } from '../../base/errors.ts'
import type { Kind } from '../../core/entries/entry.ts'
import type { Change } from '../../core/plan/change.ts'
import { apiProblem } from '../../target/api-problem.ts'
import { applyChange } from '../../target/apply-change.ts'
import { find, isEntryOf } from '../../target/entries.ts'
import { type LeftBehind, TRIAL } from './left-behind.ts'

interface Tried<Found> {
  /** `undefined` where the trial failed. */
  readonly found: Found | undefined
  /** The service's answer instead, in a sentence. */
  readonly detail: string | undefined
  readonly left: readonly string[]
}

const DELETING_MS = 30_000
/** After an abort: for all that is left to do, within the eight seconds after which the program ends. */
const ENDING_MS = 6000
/** After an abort: how long a create may still be answered. */
const MAKING_MS = 4000
/** After an abort, or from the beginning of a deletion on: how long the delete of one entry may take. */
const HURRIED_MS = 3000
/** Between two lookups of an entry that may still be created. */
const LOOK_AGAIN_MS = 300

/** Where to try something and delete it again. */
export interface TryingOut {
  readonly client: AccessManagementClient
  readonly directoryId: number
  readonly signal: AbortSignal
  /** Called with the id before the first create, and after an abort with what is left. */
  readonly say: (sentence: string) => void
}

/**
 * Finds out whether the service accepts members, which its API does not describe: creates a user and a group under a
 * new id, writes one into the other as a run would, reads it, and deletes both. Rejects only when the signal is
 * aborted, after deleting.
 */
export function tryMembers(
  where: TryingOut,
): Promise<Tried<{ readonly isShown: boolean; readonly why?: string }>> {
  const { client, directoryId, signal } = where
  const doing = 'Making the user and the group ID, writing the one into the other, and deleting both …'
  return tryOut(where, doing, async ({ id, make, apply }) => {
    await make('group')
    const refused = await refusalOf(apply({ op: 'set-members', id, name: TRIAL.name, have: [], want: [id] }))
    if (refused !== undefined) return { isShown: false, why: refused }
    const group = await client.getGroup({ directory_id: directoryId, external_id: id }, { signal })
    return { isShown: group.external_member_ids.includes(id) }
  })
}

/** Creates and deletes a user, with one e-mail of each domain. Rejects as `tryMembers` does. */
export function tryDomains(where: TryingOut, domains: readonly string[]): Promise<Tried<readonly string[]>> {
  const doing = 'Making the user ID, writing an e-mail of each domain to it, and deleting it …'
  return tryOut(where, doing, async ({ id, apply }) => {
    const taken: string[] = []
    for (const domain of domains) {
      const email = `${id.slice(0, LONGEST_NAME)}@${domain}`
      const have = { email: null, name: TRIAL.name }
      const change = { op: 'update-user', id, have, want: { email } } as const
      if ((await refusalOf(apply(change))) === undefined) taken.push(domain)
    }
    return taken
  })
}

/** Of the part before the @, in characters. */
const LONGEST_NAME = 64

interface Trial {
  readonly id: string
  readonly make: (kind: Kind) => Promise<void>
  readonly apply: (change: Change) => Promise<unknown>
}

async function tryOut<Found>(
  where: TryingOut,
  doing: string,
  work: (trial: Trial) => Promise<Found>,
): Promise<Tried<Found>> {
  const { client, directoryId, signal, say } = where
  const id = `${TRIAL.id}${randomUUID()}`
  say(doing.replace('ID', id))
  const made: Made = new Map()
  const applyUntil = (until: AbortSignal) => (change: Change) =>
    applyChange(client, { directoryId }, change, { check: false }, until)
  const apply = applyUntil(signal)
  // An aborted create may be done all the same, so its answer is waited for.
  const applyPatiently = applyUntil(abortedAfter(signal, MAKING_MS))
  const make = async (kind: Kind) => {
    signal.throwIfAborted()
    try {
      await applyPatiently({ op: `create-${kind}`, id, want: { name: TRIAL.name } })
      made.set(kind, 'sure')
    } catch (error) {
      // Requests other than the first come only where the service shows the entry, or may.
      if (isApiError(error) && (error.maybeDone || error.destination.method !== 'POST'))
        made.set(kind, { because: doubtOf(error) })
      throw error
    }
  }
  const ending = abortedAfter(signal, ENDING_MS)
  let found: Found | undefined
  let detail: string | undefined
  const tellEnding = () => say(`Deleting ${id} again, for at most ${ENDING_MS / 1000} s …`)
  signal.addEventListener('abort', tellEnding, { once: true })
  try {
    await make('user')
    found = await work({ id, make, apply })
  } catch (error) {
    if (!signal.aborted) detail = reasonOf(error)
  }
  const left = await deleteAll({ ...where, id, ending }, made)
  signal.removeEventListener('abort', tellEnding)
  if (signal.aborted) for (const each of left) say(each)
  signal.throwIfAborted()
  return { found, detail, left }
}

/** Created for certain, or possibly, with the reason for the doubt. */
type Made = Map<Kind, 'sure' | { readonly because: string }>

function doubtOf({ kind, destination: { method }, isWebPage, status }: ApiError): string {
  if (kind === 'aborted') return 'the request to make it had no answer in time'
  if (method !== 'POST') return 'it could not be looked up whether the service made it'
  if (isWebPage) return 'a web page answered the request to make it, and not the service'
  if (status === undefined) return 'the request to make it had no answer'
  return `the service answered the request to make it with ${status}, and may still make it`
}

/** The service's reason for a refusal; `undefined` where it made the change. */
async function refusalOf(change: Promise<unknown>): Promise<string | undefined> {
  try {
    await change
    return undefined
  } catch (error) {
    if (!isApiError(error, 'refused', 'conflict')) throw error
    return reasonOf(error)
  }
}

/** Without the usual advice: the service has accepted the token before. */
function reasonOf(error: unknown): string {
  const isOfService = isApiError(error, 'refused', 'conflict', 'forbidden') && !error.isWebPage
  return sentence(isOfService ? error : apiProblem(error))
}

/** `ending` is aborted when no time is left. */
interface Deleting extends Omit<TryingOut, 'say'> {
  readonly id: string
  readonly ending: AbortSignal
}

/**
 * Returns what is left, in sentences. The group first, because a service may refuse to delete a user who is a member;
 * but certain entries before possible ones: a group that may not exist yet has no members.
 */
async function deleteAll(deleting: Deleting, made: Made): Promise<readonly string[]> {
  const left: string[] = []
  const isUnsure = (kind: Kind) => Number(made.get(kind) !== 'sure')
  for (const kind of (['group', 'user'] as const).toSorted((a, b) => isUnsure(a) - isUnsure(b))) {
    const creation = made.get(kind)
    if (creation === undefined) continue
    const problem =
      creation === 'sure' || (await appears(deleting, kind))
        ? await deleteOne(deleting, kind)
        : `The ${kind} ${deleting.id} may appear in the directory later, because ${creation.because}; delete it then.`
    if (problem !== undefined) left.push(problem)
  }
  return left
}

/** Deletes what earlier trials have left behind. Returns what is left, in sentences. */
export async function deleteLeftBehind(
  where: Omit<TryingOut, 'say'>,
  entries: readonly LeftBehind[],
): Promise<readonly string[]> {
  const { signal } = where
  const left: string[] = []
  for (const { kind, id } of entries) {
    signal.throwIfAborted()
    const problem = await deleteOne({ ...where, id, ending: signal }, kind)
    if (problem !== undefined) left.push(problem)
  }
  return left
}

/** Whether a possible entry appears. After an abort it is looked up until no time is left. */
async function appears(deleting: Deleting, kind: Kind): Promise<boolean> {
  const { signal, ending } = deleting
  for (;;) {
    try {
      if (await isShown(deleting, kind, AbortSignal.any([ending, AbortSignal.timeout(DELETING_MS)])))
        return true
    } catch (error) {
      if (!isApiError(error)) throw error
    }
    if (!signal.aborted || ending.aborted) return false
    await delay(LOOK_AGAIN_MS)
  }
}

async function isShown(
  { client, directoryId, id }: Deleting,
  kind: Kind,
  signal: AbortSignal,
): Promise<boolean> {
  const shown = await find({ client, directoryId, signal, whenLimited: 'throw' }, kind, id)
  return shown !== undefined && isEntryOf(id, shown)
}

async function deleteOne(deleting: Deleting, kind: Kind): Promise<string | undefined> {
  const { client, directoryId, signal, ending, id } = deleting
  const limited = AbortSignal.any([
    ending,
    abortedAfter(signal, HURRIED_MS),
    AbortSignal.timeout(DELETING_MS),
  ])
  try {
    const deletion = deletionOf(kind, id)
    const { result } = await applyChange(client, { directoryId }, deletion, { check: false }, limited)
    if (result !== 'applied') return undefined
  } catch (error) {
    return `The ${kind} ${id} could not be deleted: ${reasonOf(error)} Delete it in the service.`
  }
  try {
    if (!(await isShown(deleting, kind, limited))) return undefined
    return `The service said that the ${kind} ${id} was deleted, and still shows it. Delete it in the service.`
  } catch (error) {
    return `The ${kind} ${id} was deleted; whether it is gone could not be checked: ${reasonOf(error)} Look for it in the service.`
  }
}

function deletionOf(kind: Kind, id: string): Change {
  return kind === 'user'
    ? { op: 'delete-user', id, have: { email: null, name: TRIAL.name, groups: [] }, why: 'gone' }
    : { op: 'delete-group', id, have: { name: TRIAL.name, members: [] }, why: 'gone' }
}

/** Aborted so many milliseconds after the other signal, or after now where that was aborted before. */
function abortedAfter(signal: AbortSignal, ms: number): AbortSignal {
  const overdue = new AbortController()
  const hurry = () => {
    setTimeout(() => overdue.abort(new DOMException('', 'TimeoutError')), ms).unref()
  }
  if (signal.aborted) hurry()
  else signal.addEventListener('abort', hurry, { once: true })
  return overdue.signal
}
