import type { Pool } from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { type RunningService, startService, type StartOptions } from '../support/service.ts'

/** Opens a store for the service; what it opens, it gives to the stack. */
export type OpenStore = (stack: AsyncDisposableStack) => Promise<Pool>

/**
 * Runs the tests against one service; the tests get it from the function. The store is on PostgreSQL unless `open` opens
 * another one.
 */
export function describeService(
  name: string,
  options: StartOptions,
  tests: (service: () => RunningService) => void,
  open?: OpenStore,
): void {
  describe.each([name])('%s', () => {
    let service: RunningService | undefined
    const stack = new AsyncDisposableStack()

    beforeAll(async () => {
      const pool = await open?.(stack)
      service = await startService({ ...options, ...(pool && { pool }) })
      stack.defer(() => service?.close())
    })

    afterAll(() => stack.disposeAsync())

    tests(() => {
      if (service === undefined) throw new Error('the service did not start')
      return service
    })
  })
}
