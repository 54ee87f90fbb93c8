import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { useMemoryForFiles } from './test/support/memory-files.ts'

keepCompiled()
useMemoryForFiles()

/**
 * Only the long tests do these runs on Redis and on the embedded store, let half of all requests fail, let the service be
 * away for long, send requests at random, follow several LDAP servers, let a daemon go through one outage of LDAP after
 * the other, have three processes share a limit of requests, pack the client, approve parts and undo runs at random, undo
 * runs by commands, replace the files of an export in every way, ask promtool about each alert, compare whole services
 * with the API, ask why about everybody, and go through the pages of the docs. Here backend.test.ts and others use the
 * queue on Redis, and other tests have each kind of failure, of request, of read, of limit, of part, of undo, of story and
 * of difference.
 */
const ONLY_LONG = [
  'test/integration/run-behaviour-{embedded,redis}.test.ts',
  'test/faults/{directory-outage,rate-limit,service-faults}.test.ts',
  'test/contract/{fuzz,fuzz-load}.test.ts',
  'test/integration/{client-library,prometheus,request-budget,run-parts-random,run-undo-random,source-csv-watch}.test.ts',
  'test/e2e/{api-contract,explain,explain-whom,incident,ldap-outage,notifications}.test.ts',
  'test/e2e/{openldap-evidence,openldap-replica,openldap-servers,readme,undo}.test.ts',
]

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Test files leave no state behind; importing the code again for each costs more than many of their tests.
    isolate: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          provide: { long: false },
          testTimeout: 60_000,
          // Vitest would take one worker on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'servers',
          include: ['test/{contract,integration,faults,e2e}/**/*.test.ts'],
          exclude: ONLY_LONG,
          globalSetup: 'test/support/global-setup.ts',
          provide: { long: false },
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Even on fewer cores, because many of these tests mostly wait.
          maxWorkers: 5,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
