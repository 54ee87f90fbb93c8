import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { PATIENCE } from './test/support/patience.ts'

keepCompiled()

const LONG = {
  globalSetup: 'test/support/global-setup.ts',
  provide: { long: true },
  expect: { poll: PATIENCE },
  testTimeout: 600_000,
  hookTimeout: 300_000,
}
/** It says how long the service keeps others waiting, so nothing else may use the processor. */
const LOAD = 'test/contract/fuzz-load.test.ts'

/** Separate from `npm test`, because each file takes minutes: long outages, thousands of cases, production timeouts. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...LONG,
          name: 'long',
          include: [
            'test/faults/**/*.test.ts',
            'test/contract/**/*.test.ts',
            'test/integration/{backend,client-library,large-groups,lease,operator-refusals,prometheus,request-budget,run-behaviour-*}.test.ts',
            'test/integration/run-{canary,convergence,holds,identity,parts-random,refusals,undo,undo-random}.test.ts',
            'test/integration/service-{admin,bodies,keys,limits,resources}.test.ts',
            'test/integration/source-{command,csv,csv-watch,ldap-wire}.test.ts',
            'test/integration/{stolen-database,store,store-upgrade,systemd,users}.test.ts',
            'test/e2e/**/*.test.ts',
            'test/unit/{client/pages,directory/normalize,plan/emails,plan/lacks,plan/model,plan/selection,target/create-together}.test.ts',
            'test/unit/{service/http/form,service/saml/response,source/mapping/bounds,store/embedded}.test.ts',
            'test/unit/source/ldap/connection/broken-messages.test.ts',
          ],
          exclude: [LOAD],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...LONG, name: 'load', include: [LOAD], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
