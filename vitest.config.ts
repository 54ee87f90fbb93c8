import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { useMemoryForFiles } from './test/support/memory-files.ts'

keepCompiled()
useMemoryForFiles()

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
          // Only the long tests do these runs on Redis and on the embedded store, let half of all requests fail, let the
          // service be away for long, send requests at random, follow several LDAP servers, let a daemon go through one
          // outage of LDAP after the other, have three processes share a limit of requests, pack the client, undo runs at
          // random and by commands, and compare whole services with the API: here backend.test.ts and others use the queue
          // on Redis, and other tests have each kind of failure, of request, of read, of limit, of undo and of difference.
          exclude: [
            'test/integration/run-behaviour-{embedded,redis}.test.ts',
            'test/faults/{directory-outage,rate-limit,service-faults}.test.ts',
            'test/contract/{fuzz,fuzz-load}.test.ts',
            'test/integration/{client-library,request-budget,run-undo-random}.test.ts',
            'test/e2e/{api-contract,ldap-outage,openldap-replica,openldap-servers,undo}.test.ts',
          ],
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
