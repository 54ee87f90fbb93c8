import { join } from 'node:path'
import { openEmbeddedPool } from '../../src/base/database/embedded.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { tempDir } from '../support/temp.ts'
import { testEveryEndpoint } from './endpoints.ts'
import { wideFixture } from './wide-fixture.ts'
import { describeService } from './with-service.ts'

describeService(
  'every endpoint, on the embedded store',
  { fixture: wideFixture() },
  testEveryEndpoint,
  async (stack) => {
    const dir = stack.use(await tempDir())
    await putEmptyStore(dir.path)
    return stack.adopt(await openEmbeddedPool(join(dir.path, 'store')), (pool) => pool.end())
  },
)
