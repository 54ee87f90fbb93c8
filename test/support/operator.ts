import { createPerform, type Perform } from '../../src/service/admin/perform.ts'
import { openDatabase } from '../../src/service/store/database.ts'
import { type RunningService, testContext } from './service.ts'

/** What the commands of an operator do, on a service in this process. */
export function operatorOf({ pool, baseUrl }: Pick<RunningService, 'pool' | 'baseUrl'>): Perform {
  return createPerform({
    pool,
    db: openDatabase(pool),
    now: () => new Date(),
    publicUrl: baseUrl,
    writeContext: () => Promise.resolve(testContext()),
    rotateKeys: () => Promise.reject(new Error('not here')),
  })
}
