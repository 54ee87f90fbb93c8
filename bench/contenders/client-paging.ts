import { AccessManagementClient } from '../../src/api/client/client.ts'
import { readAllPages } from '../../src/api/client/pages.ts'
import { FIXTURE } from '../../test/support/fixture.ts'
import { serveContender } from '../contender.ts'

export interface ClientPagingTask {
  readonly baseUrl: string
  /** Pages read at once. */
  readonly concurrency: number
  /** The expected number of users; any other number is an error. */
  readonly users: number
}

/** Our client: it checks every page against the contract and detects changes of the list between pages. */
serveContender(async ({ baseUrl, concurrency, users }: ClientPagingTask) => {
  const client = new AccessManagementClient({
    baseUrl,
    organizationId: FIXTURE.organizationId,
    deviceId: 'bench',
    token: async () => FIXTURE.token,
  })
  const params = { directory_id: FIXTURE.directoryId }
  return {
    async run() {
      const { items, moved } = await readAllPages((options) => client.listUsers(params, options), {
        key: (user) => user.id,
        concurrency,
      })
      if (items.length !== users || moved) throw new Error(`read ${items.length} users, moved: ${moved}`)
    },
    close: async () => client[Symbol.asyncDispose](),
  }
})
