import type { Operation } from '../../api/contract/endpoints.ts'
import { createAssertion } from './assertion.ts'
import { readCredentials, resetPassword } from './credentials.ts'
import { getDirectory, listDirectories } from './directories.ts'
import { listEvents } from './events.ts'
import { createGroups, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts'
import type { Handler } from './handler.ts'
import { getOrganizationGroup, listOrganizationGroups } from './organization-groups.ts'
import { getSubscription, listSubscriptions, updateSubscription } from './subscriptions.ts'
import { createUsers, deleteUser, getUser, listUsers, updateUser } from './users.ts'

/** A row of the contract without a handler does not compile. */
export const handlers: { readonly [O in Operation]: Handler<O> } = {
  listDirectories,
  getDirectory,
  listUsers,
  createUsers,
  getUser,
  updateUser,
  deleteUser,
  listGroups,
  createGroups,
  getGroup,
  deleteGroup,
  updateGroup,
  listSubscriptions,
  getSubscription,
  updateSubscription,
  createAssertion,
  readCredentials,
  resetPassword,
  listEvents,
  listOrganizationGroups,
  getOrganizationGroup,
}
