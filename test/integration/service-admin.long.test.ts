import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase } from '../support/databases.ts'
import { FIXTURE } from '../support/fixture.ts'
import { freePort } from '../support/server-process.ts'
import { openSite } from '../support/site.ts'
import { ask, beginEmptyService, one, openAdminSite, rotateKeysOfService } from './service-admin.ts'

test.each([true, false])(
  'commands begin an empty embedded store; the service runs meanwhile: %s',
  (running) => beginEmptyService('embedded', running),
)

test('commands begin an empty store on PostgreSQL while the service runs', async () => {
  await beginEmptyService(await createDatabase(), true)
})

test('a rotation on PostgreSQL seals everything again', async () => {
  await rotateKeysOfService(await createDatabase())
})

test('the socket is for this user only', async () => {
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite({ program: 'access-service' }))
  await site.write('keys', newKeyLine('k1'))
  await site.configure({
    dataDir: './data',
    service: {
      listen: `127.0.0.1:${await freePort()}`,
      dataDir: './data',
      keyFile: './keys',
    },
  })
  const service = stack.use(site.start('start'))
  await service.waitForOutput(/listens on/)
  expect((await stat(join(site.dataDir, 'service.sock'))).mode & 0o777).toBe(0o600)
  expect(await one(site, 'organization', 'create', '--name', 'Labs', '--domain', 'a.org')).toMatchObject({
    id: 1,
  })
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(await one(site, 'organization', 'list')).toMatchObject({ id: 1, name: 'Labs' })
})

test('a query that never ends does not keep the service from stopping', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase()
  const site = await openAdminSite(stack, { store })
  const service = await site.serve()
  const other = new Client({ connectionString: store })
  await other.connect()
  stack.defer(() => other.end())
  await other.query('begin; lock table access_management.directories')
  const stuck = ask(site, FIXTURE.token, '1/admin/directories').then(
    () => 'answered',
    () => 'cut',
  )
  const waiting =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  while ((await other.query(waiting)).rowCount === 0);
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(await stuck).toBe('cut')
})
