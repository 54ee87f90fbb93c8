import { beforeEach, expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import type { MutableCompany, SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('configuration')

let company: MutableCompany

beforeEach(() => {
  ;({ company } = bed)
})

async function harness(options: Partial<SyncHarnessOptions> = {}): Promise<SyncHarness> {
  const open = bed.open(options)
  await open.startWorker()
  return open
}

function hire(id: string): void {
  company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

/** No other test of this file gets this one. */
const OTHER_DIRECTORY = 139

function inOtherDirectory() {
  return { service: { baseUrl: bed.proxy.baseUrl, organizationId: 1, directoryId: OTHER_DIRECTORY } }
}

test('a run that was asked for before the directory was changed writes to the new one alone', async () => {
  hire('a')
  const before = bed.open()
  const asked = await before.requestRun()
  const after = await harness({ ...inOtherDirectory(), giveUpMs: 1500 })
  await after.executor.work(bed.sync, { scheduled: false })
  expect(await after.getRun(asked)).toMatchObject({
    state: 'done',
    target: expect.stringContaining(`/directories/${OTHER_DIRECTORY}`),
  })
  const inNew = await readService({ ...FIXTURE, ...inOtherDirectory().service })
  expect([...inNew.users.keys()]).toEqual(['a'])
  expect((await readService(bed.direct)).users.size).toBe(0)
})
