import type { Written } from '../client/methods.ts'
import type { Shown } from '../plan/canary.ts'
import type { Create } from '../plan/batches.ts'
import type { CreateGroup, CreateUser } from '../plan/change.ts'
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
  writeOptions,
} from './entries.ts'
import type { Creation } from './idempotent.ts'

export function userCreation(context: RequestContext, change: CreateUser): Creation<User> {
  const { id, want } = change
  const params = { directory_id: context.directoryId }
  return {
    find: () => findUser(context, id),
    send: (confirm) => context.client.createUsers(params, [userForm(change)], writeOptions(context, confirm)),
    isDone: (user) => hasValues(user, want),
    correct: (user) => sendUser(context, id, missingFields(user, want)),
  }
}

export function groupCreation(context: RequestContext, change: CreateGroup): Creation<Group> {
  const { id, want } = change
  const params = { directory_id: context.directoryId }
  return {
    find: () => findGroup(context, id),
    send: (confirm) =>
      context.client.createGroups(params, [groupForm(change)], writeOptions(context, confirm)),
    isDone: (group) => hasName(group, want.name),
    correct: () => sendGroup(context, id, want),
  }
}

/** Entries of one kind: how each is created, and how several are with one request. */
export interface Creations<Found> {
  of(change: Create): Creation<Found>
  /** What the service shows of an entry, to be judged as the canary's entries are. */
  shown(found: Found): Shown
  /** Sent once: without an answer nobody knows which of the entries were created. */
  send(changes: readonly Create[]): Promise<Written<readonly Found[]>>
}

export function userCreations(context: RequestContext): Creations<User> {
  const { client, directoryId, signal, onRequest } = context
  return {
    of: (change) => userCreation(context, change as CreateUser),
    shown: shownUser,
    send: (changes) =>
      client.createUsers({ directory_id: directoryId }, (changes as CreateUser[]).map(userForm), {
        signal,
        onRequest,
      }),
  }
}

export function groupCreations(context: RequestContext): Creations<Group> {
  const { client, directoryId, signal, onRequest } = context
  return {
    of: (change) => groupCreation(context, change as CreateGroup),
    shown: shownGroup,
    send: (changes) =>
      client.createGroups({ directory_id: directoryId }, (changes as CreateGroup[]).map(groupForm), {
        signal,
        onRequest,
      }),
  }
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
