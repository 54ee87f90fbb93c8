import { FIXTURE } from '../test/support/fixture.ts'

/** URL, paths and headers of the directory's HTTP API, so that a floor needs no code of ours. */
export interface DirectoryApi {
  readonly baseUrl: string
  readonly usersPath: string
  readonly groupsPath: string
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>
}

/** The directory of the tests' fixture. */
export function directoryApi(baseUrl: string): DirectoryApi {
  const { organizationId, directoryId, token } = FIXTURE
  const directory = `/api/v2/organizations/${organizationId}/admin/directories/${directoryId}`
  return {
    baseUrl,
    usersPath: `${directory}/users`,
    groupsPath: `${directory}/groups`,
    headers: { authorization: `token ${token}`, 'x-device-id': 'bench' },
  }
}
