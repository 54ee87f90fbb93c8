import type { Operation } from '../../contract/endpoints.ts'
import { getDirectory, listDirectories } from './directories.ts'
import { createGroups, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts'
import type { Handler } from './handler.ts'
import { createUsers, deleteUser, getUser, listUsers, updateUser } from './users.ts'

/** One handler for each row of the contract; a row without one does not compile. */
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
}
