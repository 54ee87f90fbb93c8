import { FIXTURE } from '../test/support/fixture.ts'

/** Where the directory is, in the words of HTTP; a floor's process needs no more and loads nothing of ours. */
export interface Target {
  readonly baseUrl: string
  readonly usersPath: string
  readonly groupsPath: string
  /** What every request carries. */
  readonly headers: Readonly<Record<string, string>>
}

/** The directory of the tests' fixture. */
export function targetAt(baseUrl: string): Target {
  const { organizationId, directoryId, token } = FIXTURE
  const directory = `/api/v2/organizations/${organizationId}/admin/directories/${directoryId}`
  return {
    baseUrl,
    usersPath: `${directory}/users`,
    groupsPath: `${directory}/groups`,
    headers: { authorization: `token ${token}`, 'x-device-id': 'bench' },
  }
}
