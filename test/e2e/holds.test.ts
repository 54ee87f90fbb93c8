import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callService, readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let eye: Parameters<typeof readService>[0]

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  eye = { ...FIXTURE, baseUrl: service.baseUrl }
  await site.configure(
    databaseConfig([
      {
        name: 'corp',
        source: {
          type: 'csv',
          users: { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } },
        },
        directory: directorySection(service),
      },
    ]),
  )
})

afterEach(() => stack.disposeAsync())

function people(from: number, to: number): string {
  let rows = 'id,mail,name\n'
  for (let index = from; index < to; index++) rows += `u${index},u${index}@example.org,Person ${index}\n`
  return rows
}

describe('half of the users are removed from the source', () => {
  beforeEach(async () => {
    await site.write('users.csv', people(0, 40))
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    await site.write('users.csv', people(0, 20))
  })

  test('the run asks with names and reasons, and an approval deletes exactly those users', async () => {
    const held = await site.run('sync', 'corp')
    expect(held.code).toBe(3)
    expect(held.stdout).toContain('max-delete-percent-users')
    expect(held.stdout).toContain('u25')
    expect((await readService(eye)).users.size).toBe(40)
    const shown = await site.run('runs', '2')
    expect(shown.stdout).toContain('u39')
    expect(shown.stdout).toContain('max-delete-percent-users')
    expect(shown.stdout).toContain('corp: no changes; 20 deletions of users need approval (run 2).')

    const approved = await site.run('approve', '2', '--all', '--reason', 'they left')
    expect(approved).toMatchObject({ code: 0, stderr: '' })
    expect(approved.stdout).toMatch(/^Run 2 of corp: 20 deletions of users approved; run 3 applies it\./)
    expect((await site.run('runs', '2')).stdout).toMatch(/approved by .*"they left"; dirsyncd runs 3/)
    const after = await readService(eye)
    expect([...after.users.keys()].toSorted()).toEqual(
      Array.from({ length: 20 }, (_, index) => `u${index}`).toSorted(),
    )
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    const deletes = (await service.requests()).filter(({ method }) => method === 'DELETE')
    expect(deletes).toHaveLength(20)
  })

  test('the same changes stay one question, and a rejection silences it until they change', async () => {
    expect((await site.run('sync', 'corp')).code).toBe(3)
    expect((await site.run('sync', 'corp')).code).toBe(3)
    const { lines } = await site.json('runs')
    expect(
      lines
        .flat()
        .filter((run) => run.questions === 20)
        .map((run) => run.run),
    ).toEqual([3, 2])

    expect(await site.run('reject', '3', '--all', '--reason', 'on leave')).toMatchObject({ code: 0 })
    const next = await site.run('sync', 'corp')
    expect(next.code).toBe(0)
    expect(next.stdout).toMatch(
      /20 deletions of users are rejected \(run 4 lists them, the last by .*\)\.\n\n$/,
    )
    expect((await site.run('runs')).stdout).not.toContain('needs approval')
    expect((await readService(eye)).users.size).toBe(40)

    await site.write('users.csv', people(0, 10))
    expect((await site.run('sync', 'corp')).code).toBe(3)
    expect((await readService(eye)).users.size).toBe(40)
  })
})

test('a rejection overrules an earlier approval that no run has used', async () => {
  await site.write('users.csv', people(0, 40))
  await site.run('sync', 'corp')
  await site.write('users.csv', people(0, 25).replaceAll('Person', 'Renamed'))
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 3 })
  await site.run('pause', 'corp')
  const approved = await site.run('approve', '2', '--code', 'max-update-percent-users')
  expect(approved.stdout).toMatch(
    /25 updates of users approved; corp is paused, .*\n15 deletions of users need approval \(run 2\)\.\n/,
  )
  expect(await site.run('reject', '2', '--only', 'updates', 'deletes')).toMatchObject({ code: 0 })
  await site.run('resume', 'corp', '--no-plan')
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
  const { users } = await readService(eye)
  expect([users.size, users.get('u7')?.name]).toEqual([40, 'Person 7'])
})

test('a part is approved, and the rest stays asked', async () => {
  await site.write('users.csv', people(0, 40))
  await site.run('sync', 'corp')
  await site.write('users.csv', people(0, 20))
  await site.run('sync', 'corp')
  const part = await site.run('approve', '2', '--id', 'u25', '--id', 'u26')
  expect(part).toMatchObject({ code: 3, stderr: '' })
  expect(part.stdout).toMatch(/\n18 deletions of users need approval \(run 2\)\.\n$/)
  const { users } = await readService(eye)
  expect([users.size, users.has('u25'), users.has('u27')]).toEqual([38, false, true])
  expect(await site.run('approve', '2', '--all')).toMatchObject({ code: 0 })
  expect((await readService(eye)).users.size).toBe(20)
})

describe('the ids of ten users are renamed', () => {
  beforeEach(async () => {
    await site.write('users.csv', people(0, 40))
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    const renamed = people(0, 40).replace(/^u(\d),/gm, 'renamed$1,')
    await site.write('users.csv', renamed)
  })

  test('the plan shows each as a delete and a create of one user, and the run is held', async () => {
    const plan = await site.run('plan', 'corp')
    expect(plan).toMatchObject({ code: 2, stderr: '' })
    expect(plan.stdout).toContain('blocked    10 deletions and 10 creations of users')
    expect(plan.stdout).toMatch(/^ +\+ create user {3}renamed7 .* \(u7 under a new id\)$/m)
    expect(plan.stdout).toMatch(/^ +- delete user {3}u7 .* \(created again as renamed7\)$/m)
    expect(plan.stdout).toMatch(/Needs approval:\n.*would be removed \(10 created again under another id\)/)
    // What was only planned was never to be applied.
    expect(plan.stdout).not.toMatch(/dropped|Not applied/)
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 3 })
  })
})

test('a plan that deletes 20 unknown users at the first run is held', async () => {
  for (let index = 0; index < 20; index++) {
    const form = { 'users[][external_id]': `stranger${index}`, 'users[][name]': `Stranger ${index}` }
    expect(await callService(eye, 'POST', '/users', form)).toBe(201)
  }
  await site.write('users.csv', people(0, 1000))
  const held = await site.run('sync', 'corp')
  expect(held.code).toBe(3)
  expect(held.stdout).toContain('first-contact')
  expect(held.stdout).toContain('stranger7')
  expect((await readService(eye)).users.size).toBe(20)
})
