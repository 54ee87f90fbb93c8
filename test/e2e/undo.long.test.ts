import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CompanySite, expectDirectory, openCompanySite, RUN_DONE } from '../support/company-site.ts'
import { companyAfter, companyBefore } from '../support/company.ts'

let stack: AsyncDisposableStack
let place: CompanySite

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  place = stack.use(await openCompanySite({ store: 'embedded', queue: 'store' }, companyBefore()))
  expect(await place.site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await place.setSource(companyAfter())
  expect(await place.site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await expectDirectory(place.service, companyAfter())
})
afterEach(() => stack.disposeAsync())

test('a daemon that is killed in the middle of an undo goes on with it', async () => {
  const { site, service } = place
  const first = stack.use(site.start('start'))
  await first.waitForOutput(/daemon started/)
  const written = (await place.writes()).length
  const undoing = stack.use(site.start('undo', '2', '--yes', '--only', 'updates', 'deletes', 'members'))
  await place.waitForWrites(written + 40)
  first.kill('SIGKILL')
  expect((await undoing.ended).stderr).toContain('goes on when it runs again')
  const second = stack.use(site.start('start'))
  await second.waitForOutput(RUN_DONE)
  const { lines } = await site.json('runs')
  expect(lines.filter(({ mode }) => mode === 'sync')).toMatchObject([
    { state: 'done', undo: { run: 2 }, paused: { reason: 'undo of run 2' } },
    { state: 'failed', undo: { run: 2 } },
    { run: 2 },
    { run: 1 },
  ])
  const rest = await site.run('undo', '2', '--yes')
  expect(rest).toMatchObject({ code: 3, stderr: '' })
  expect(rest.stdout).toContain('undo-deletes')
  const asking = /: run (\d+), undo of run 2, needs approval/.exec(rest.stdout)![1]!
  expect(await site.run('approve', asking, '--all')).toMatchObject({ code: 0, stderr: '' })
  await expectDirectory(service, companyBefore())
})

test('a paused sync writes nothing, says so, and shows at its resumption what comes next', async () => {
  const { site, service } = place
  await place.setSource(companyBefore())
  const paused = await site.run('pause', 'corp', '--reason', 'the directory is being moved')
  expect(paused.stdout).toMatch(
    /^corp has been paused since .* by \S+ \(the directory is being moved\); dirsyncd resume corp ends it\.\n$/,
  )
  expect((await site.run('pause', 'corp')).stdout).toBe(paused.stdout)
  expect((await site.run('pause', 'corp', '--reason', 'another')).stdout).toBe(
    `${paused.stdout.trim()} It was paused before you asked, so your name and reason are not recorded.\n`,
  )
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 1, stdout: '', stderr: paused.stdout })
  expect((await site.run('runs')).stdout).toMatch(/^corp has been paused since/)
  expect((await site.run('check', 'corp')).stdout).toMatch(/warn +paused +corp has been paused since/)
  await expectDirectory(service, companyAfter())
  const resumed = await site.run('resume', 'corp')
  expect(resumed).toMatchObject({ code: 0, stderr: '' })
  expect(resumed.stdout).toMatch(
    /^corp: plan \d+, planned(.|\n)*corp runs again: on its schedule, or now with/,
  )
  await expectDirectory(service, companyAfter())
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await expectDirectory(service, companyBefore())
  expect(await site.run('resume', 'corp')).toMatchObject({
    code: 64,
    stderr: 'The sync corp is not paused.\n',
  })
})

test('a pause ends the run that is under way, and what it has not sent is not sent', async () => {
  const { site } = place
  await place.setSource(companyBefore())
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  const before = (await place.writes()).length
  const syncing = stack.use(site.start('sync', 'corp'))
  await place.waitForWrites(before + 20)
  expect((await site.run('pause', 'corp')).stdout).toContain('Run 3, which was under way, ends now.')
  const ended = await syncing.ended
  expect(ended).toMatchObject({ code: 1 })
  expect(ended.stderr).toMatch(/paused the sync while this run was under way/)
  const sent = (await place.writes()).length
  const { lines } = await site.json('runs', '3')
  const planned = Object.values<number>(lines[0].counts.planned).reduce((sum, count) => sum + count, 0)
  expect(sent - before).toBeLessThan(planned)
  expect(await site.run('resume', 'corp', '--no-plan')).toMatchObject({ code: 0 })
  expect(await place.writes()).toHaveLength(sent)
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
  await expectDirectory(place.service, companyBefore())
})
