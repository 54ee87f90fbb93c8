import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { runSql } from '../support/postgres.ts'
import { openSite } from '../support/site.ts'

const OTHER_FORM =
  /^The store of the service, database \w+, has the tables of another build of access-service, and no store is upgraded before 1\.0\.0: name a new dataDir or database in the configuration, or remove this store; into a new store you import again \(access-service import\)\.\n$/

async function altered(template: string, change: string): Promise<string> {
  const url = await createDatabase(template)
  await runSql(url, change)
  return url
}

test.each([
  [
    'another form',
    () => altered(SERVICE_TEMPLATE, `update access_management.migrations set hash = 'of another text'`),
    OTHER_FORM,
  ],
  [
    'the form of nine steps',
    () =>
      altered(
        'template0',
        `create schema access_management;
        create table access_management.migrations (name varchar(255) primary key, timestamp varchar(255) not null);
        insert into access_management.migrations values ('0001-organizations', '2026-01-01')`,
      ),
    OTHER_FORM,
  ],
  [
    'a newer version',
    () => altered(SERVICE_TEMPLATE, `insert into access_management.migrations values ('9999-later', '')`),
    /^The store of the service, database \w+, was last used by a newer access-service \(its tables have step 9999-later, which this version does not know\)\. Install that version or a newer one\.\n$/,
  ],
])('the service and its commands refuse a store of %s', async (_which, make, said) => {
  await using site = await openSite({ program: 'access-service' })
  await site.configure({ dataDir: './data', service: { store: await make(), keyFile: './keys' } })
  await site.run('key', 'create', join(site.dir, 'keys'))
  for (const command of [['organization', 'list'], ['start']])
    expect(await site.run(...command, '--log-level', 'error')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(said),
    })
})

test('a user who may not make the tables of the service is told what is missing', async () => {
  const url = await createDatabase()
  await runSql(url, `do $$ begin create role looker login; exception when duplicate_object then null; end $$`)
  await using site = await openSite({ program: 'access-service' })
  const store = url.replace(/\/\/[^@]*@/, '//looker@')
  await site.configure({ dataDir: './data', service: { store, keyFile: './keys' } })
  await site.run('key', 'create', join(site.dir, 'keys'))
  for (const command of [['start'], ['organization', 'list']]) {
    const { code, stderr } = await site.run(...command, '--log-level', 'error')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^The store of the service, database \w+, is empty, and its user looker may not make the tables: permission denied for database \w+; grant the user CREATE on the database\.\n$/,
    )
  }
})
