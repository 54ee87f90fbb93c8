import type { AdminDeps } from '../../src/service/admin/deps.ts'
import { createPerform, type Perform } from '../../src/service/admin/perform.ts'
import { openDatabase } from '../../src/service/store/database.ts'
import { type RunningService, testContext } from './service.ts'

/** What the commands of an operator do, on a service in this process. */
export function operatorOf(
  service: Pick<RunningService, 'pool' | 'baseUrl'>,
  deps: Partial<AdminDeps> = {},
): Perform {
  return createPerform({ ...adminDepsOf(service), ...deps })
}

function adminDepsOf({ pool, baseUrl }: Pick<RunningService, 'pool' | 'baseUrl'>): AdminDeps {
  return {
    pool,
    db: openDatabase(pool),
    now: () => new Date(),
    publicUrl: baseUrl,
    writeContext: () => Promise.resolve(testContext()),
    rotateKeys: () => Promise.reject(new Error('not here')),
  }
}
