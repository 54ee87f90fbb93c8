import { afterAll, beforeAll, describe } from 'vitest'
import { type RunningService, startService, type StartOptions } from '../support/service.ts'
import { backends } from './backends.ts'

/** Runs the tests on each of the backends against one service each; the tests get it from the function. */
export function describeService(
  name: string,
  options: StartOptions,
  tests: (service: () => RunningService) => void,
  on = backends,
): void {
  describe.each(on)(`${name}, on $name`, ({ create }) => {
    let service: RunningService | undefined
    const stack = new AsyncDisposableStack()

    beforeAll(async () => {
      const backend = await create()
      stack.defer(() => backend.remove())
      const pool = await backend.open()
      stack.defer(() => pool.end())
      service = await startService({ ...options, pool })
      stack.defer(() => service?.close())
    })

    afterAll(() => stack.disposeAsync())

    tests(() => {
      if (service === undefined) throw new Error('the service did not start')
      return service
    })
  })
}
