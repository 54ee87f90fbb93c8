import type { Written } from '../api/client/methods.ts'
import type { Shown } from '../core/plan/verification.ts'
import type { Create } from '../core/plan/batches.ts'
import type { CreateGroup, CreateUser } from '../core/plan/change.ts'
import {
  findGroup,
  findUser,
  type Group,
  hasName,
  hasValues,
  missingFields,
  type RequestContext,
  sendGroup,
  sendUser,
  shownGroup,
  shownUser,
  type User,
} from './entries.ts'
import type { Creation } from './idempotent.ts'

export function userCreation(context: RequestContext, change: CreateUser): Creation<User> {
  const { id, want } = change
  return {
    id,
    find: () => findUser(context, id),
    send: () => sendUsers(context, [change]),
    isDone: (user) => hasValues(user, want),
    correct: (user) => sendUser(context, id, missingFields(user, want)),
  }
}

export function groupCreation(context: RequestContext, change: CreateGroup): Creation<Group> {
  const { id, want } = change
  return {
    id,
    find: () => findGroup(context, id),
    send: () => sendGroups(context, [change]),
    isDone: (group) => hasName(group, want.name),
    correct: () => sendGroup(context, id, want),
  }
}

/** How entries of one kind are created, one or several per request. */
export interface Creations<Found> {
  of(change: Create): Creation<Found>
  /** For write verification. */
  shown(found: Found): Shown
  /** Sent once: after a lost answer it is unknown which of the entries were created. */
  send(changes: readonly Create[]): Promise<Written<readonly Found[]>>
}

export function userCreations(context: RequestContext): Creations<User> {
  return {
    of: (change) => userCreation(context, change as CreateUser),
    shown: shownUser,
    send: (changes) => sendUsers(context, changes as CreateUser[]),
  }
}

export function groupCreations(context: RequestContext): Creations<Group> {
  return {
    of: (change) => groupCreation(context, change as CreateGroup),
    shown: shownGroup,
    send: (changes) => sendGroups(context, changes as CreateGroup[]),
  }
}

function sendUsers(
  { client, directoryId, signal, onRequest }: RequestContext,
  changes: readonly CreateUser[],
): Promise<Written<readonly User[]>> {
  return client.createUsers({ directory_id: directoryId }, changes.map(userForm), { signal, onRequest })
}

function sendGroups(
  { client, directoryId, signal, onRequest }: RequestContext,
  changes: readonly CreateGroup[],
): Promise<Written<readonly Group[]>> {
  return client.createGroups({ directory_id: directoryId }, changes.map(groupForm), { signal, onRequest })
}

function userForm({ id, want: { email, name, employeeId } }: CreateUser) {
  return {
    external_id: id,
    ...(email !== undefined && { email }),
    ...(name !== undefined && { name }),
    ...(employeeId !== undefined && { employee_id: employeeId }),
  }
}

function groupForm({ id, want }: CreateGroup) {
  return { external_id: id, name: want.name }
}
