import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forEachInSteps } from '../../src/base/steps.ts'
import { runExitCode } from '../../src/ui/cli/exit-code.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import { heldBreaches } from '../../src/store/held-changes.ts'
import { findRun, type RunRecord } from '../../src/store/runs.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { backendNamed, openBoth, type OpenBackend } from '../support/backends.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { copyAsOlderStore } from '../support/older-store.ts'
import { readService } from '../support/read-service.ts'
import { type RunningService, startService } from '../support/service.ts'
import { type MutableCompany, openSyncHarness } from '../support/sync-harness.ts'

const SALES = ['s1', 's2', 's3', 's4', 's5', 's6']
/** The first version that made runs, and all after it but the present one. */
export const ALL_VERSIONS = Object.keys(migrations).slice(1, -1)
/** @param versions names of the last migrations of the stores */
export function testUpgrades(versions: readonly string[]): void {
  let service: RunningService

  beforeAll(async () => {
    service = await startService({ fixture: emptyDirectoriesFixture(100, versions.length) })
  })
  afterAll(() => service?.close())

  describe.each(versions)('a store whose last migration is %s', (last) => {
    const stack = new AsyncDisposableStack()
    const sync = `upgrade-${last}`
    const directoryId = 100 + versions.indexOf(last)
    const company: MutableCompany = { users: new Map(), groups: new Map() }
    afterAll(() => stack.disposeAsync())

    function hire(id: string): void {
      company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
    }

    const open = (opened: OpenBackend) =>
      openSyncHarness(opened, {
        sync,
        service: { baseUrl: service.baseUrl, organizationId: 1, directoryId },
        token: () => FIXTURE.token,
        company,
        maxUserDeletes: 1,
        asRead: (snapshot) => ({
          ...snapshot,
          nestedGroups: new Map([['cn=nested,ou=groups', 'nested']]),
          eachPlace: (kind, visit) =>
            forEachInSteps(snapshot.seen[kind], (id) =>
              visit(id, id.startsWith('s') ? 'ou=sales' : 'ou=labs'),
            ),
        }),
      })

    const users = async () => {
      const place = { ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId }
      return [...(await readService(place)).users.keys()].toSorted()
    }

    function leave(...ids: readonly string[]): void {
      for (const id of ids) company.users.delete(id)
      company.groups.set('all', { name: 'All', members: [...company.users.keys()] })
    }

    /** Makes a run, has the deletes of a second one rejected, and is killed while a third one applies its plan. */
    async function runAndBeKilled(
      opened: OpenBackend,
    ): Promise<{ interrupted: number; rejected: RunRecord }> {
      await using harness = open(opened)
      await harness.startWorker()
      expect(await harness.sync()).toMatchObject({ state: 'done', error: null })
      leave('o1', 'o2')
      const held = await harness.sync()
      expect(held).toMatchObject({ state: 'held' })
      await control(opened).reject({ run: held.run, by: 'ada' })
      await harness[Symbol.asyncDispose]()
      hire('begun')
      await using killed = open(opened)
      const run = await killed.requestRun()
      const working = killed.executor.work(sync, { scheduled: false })
      await expect.poll(async () => (await killed.getRun(run)).state).toBe('applying')
      await killed[Symbol.asyncDispose]()
      await working
      return { interrupted: run, rejected: await killed.getRun(held.run) }
    }

    function control({ store }: OpenBackend) {
      const targets = new Map([[sync, `${service.baseUrl}/directories/${directoryId}`]])
      return createLocalControl({ db: store.db, targets, wake: async () => undefined })
    }

    test('goes on where its last run was interrupted, keeps what a person decided, and believes no half truth', async () => {
      for (const id of [...SALES, 'o1', 'o2', 'o3']) hire(id)
      leave()
      company.groups.set('nested', { name: 'Nested', members: ['o3'] })
      const present = await backendNamed('postgres').open()
      const { interrupted, rejected } = await runAndBeKilled(present)
      const url = await copyAsOlderStore(urlOf(present), last)
      await present.close()

      const upgraded = await openBoth({ kind: 'postgres', url, tables: 'upgrade' })
      stack.defer(() => upgraded.close())
      const { db } = upgraded.store
      const after = (await findRun(db, rejected.run))!
      expect(after.breaches).toEqual(rejected.breaches)
      expect((await heldBreaches(db, rejected.run, after.breaches!))[0]!.changes).toHaveLength(2)
      await using harness = open(upgraded)
      await harness.startWorker()
      const next = await harness.sync()
      expect(await harness.getRun(interrupted)).toMatchObject({ state: 'failed' })
      expect(next).toMatchObject({ state: 'done', error: null })
      expect(runExitCode(next)).toBe(0)
      const everybody = ['begun', 'o1', 'o2', 'o3', ...SALES]
      expect(await users()).toEqual(everybody)
      leave(...SALES)
      expect(runExitCode(await harness.sync())).toBe(3)
      expect(await users()).toEqual(everybody)
    })
  })
}

function urlOf({ storeOptions }: OpenBackend): string {
  if (storeOptions.kind !== 'postgres') throw new Error('only a store on a server is copied')
  return storeOptions.url
}
