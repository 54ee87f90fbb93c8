import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, embeddedConfig } from '../support/sync-config.ts'

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  await site.write('users.csv', 'id,name\nu1,Ana\n')
})
afterEach(() => stack.disposeAsync())

async function configure(store: string): Promise<void> {
  const users = { path: './users.csv', map: { external_id: 'id', name: 'name' } }
  const source = { type: 'csv', settle: '1ms', users }
  const directory = directorySection(service, { rateLimit: { requests: 1000, per: '1s' } })
  await site.configure({ ...embeddedConfig([{ name: 'corp', source, directory }]), store })
}

/** What a process could have changed: all tables with their columns, the steps that were made, and the rows of runs. */
async function contentOf(url: string): Promise<unknown> {
  const client = new Client(url)
  await client.connect()
  const rowsOf = async (query: string) => (await client.query({ text: query, rowMode: 'array' })).rows
  const columns = await rowsOf(`select table_schema, table_name, column_name from information_schema.columns
    where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, 3`)
  const schemas = await rowsOf('select nspname from pg_namespace order by 1')
  const has = (schema: string) => schemas.some(([name]) => name === schema)
  const steps = has('dirsyncd') ? await rowsOf('select name, hash from dirsyncd.migrations order by 1') : []
  const runs = has('dirsyncd') ? await rowsOf('select run from dirsyncd.runs') : []
  const queue = has('bullmq') ? await rowsOf('select version from bullmq.migration order by 1') : []
  await client.end()
  return { columns, schemas, steps, runs, queue }
}

async function alter(url: string, query: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(query)
  await client.end()
}

const OTHER_FORM =
  /^The (embedded )?store (at 127\.0\.0\.1:\d+, database \w+,|in .*) has the tables of another build of dirsyncd, and no store is upgraded before 1\.0\.0: name a new dataDir or database in the configuration, or remove this store; a new store begins without its history, decisions and grace clocks\.\n$/

const REFUSED = [
  'plan',
  'sync',
  'sync corp --user u1',
  'runs',
  'runs 1',
  'approve 1',
  'reject 1',
  'undo 1 --yes',
  'pause corp',
  'resume corp --yes',
  'quarantine list',
  'quarantine release',
  'explain corp u1',
  'worker',
  'store move',
]

/** They act on what the store has, and have nothing to do in an empty one. */
const NEED_A_STORE = [
  'runs 7',
  'explain corp u1',
  'approve 7',
  'reject 7',
  'undo 7 --dry-run',
  'undo 7 --yes',
  'resume corp --yes',
  'quarantine release',
]

const VERSIONS: readonly (readonly [which: string, make: () => Promise<string>, said: RegExp])[] = [
  [
    'another form',
    async () => {
      const url = await createDatabase(STORE_TEMPLATE)
      await alter(url, `update dirsyncd.migrations set hash = 'of another text'`)
      return url
    },
    OTHER_FORM,
  ],
  [
    'a newer version',
    async () => {
      const url = await createDatabase(STORE_TEMPLATE)
      await alter(url, `insert into dirsyncd.migrations values ('9999-later', '')`)
      return url
    },
    /^The store at .* was last used by a newer dirsyncd \(.*9999-later.*\)\. Install that version or a newer one\.\n$/,
  ],
  [
    'a newer version, in whose database the queue is newer',
    async () => {
      const url = await createDatabase(STORE_TEMPLATE)
      await alter(
        url,
        `insert into bullmq.migration (version, name, min_client_version) values (9999, 'later', 9999)`,
      )
      return url
    },
    /^The queue in the store was last used by a newer dirsyncd, .*Install that version or a newer one\.\n$/,
  ],
]

describe.each(VERSIONS)('a store on PostgreSQL of %s', (which, make, said) => {
  test('is refused by every command in one sentence, and is as it was', async () => {
    const url = await make()
    await configure(url)
    const before = await contentOf(url)
    for (const command of REFUSED) {
      const isOfQueue = which.includes('queue')
      if (command === 'store move') {
        // It touches no queue.
        if (isOfQueue) continue
        await putEmptyStore(site.dataDir)
      }
      const { code, stdout, stderr } = await site.run(...command.split(' '))
      expect({ command, code, stdout, stderr }).toEqual({
        command,
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(said),
      })
    }
    expect(await contentOf(url)).toEqual(before)
  })

  test('fails the check, which reads the rest, and is named in the bundle', async () => {
    const url = await make()
    await configure(url)
    const before = await contentOf(url)
    const checked = await site.json('check')
    const stores = checked.lines.find(({ label }) => label === 'stores')
    expect(stores).toMatchObject({ level: 'fail' })
    expect(`${stores.detail}\n`).toMatch(said)
    expect(checked.lines).toContainEqual(expect.objectContaining({ part: 'directory', level: 'ok' }))
    const bundle = JSON.parse((await site.run('bundle', '--with-texts', '-')).stdout)
    expect(bundle.config.options.syncs).toHaveLength(1)
    if (!which.includes('queue'))
      expect(bundle.missing).toEqual([
        {
          part: 'store',
          code: expect.stringMatching(/^store-(?:unavailable|other-form)$/),
          text: expect.stringMatching(
            /^The store at .* (was last used by a newer dirsyncd|has the tables of another build)/,
          ),
        },
      ])
    expect(await contentOf(url)).toEqual(before)
  })
})

test('the tables of 26 steps are another form, and not those of a newer version', async () => {
  const url = await createDatabase()
  await alter(
    url,
    `create schema dirsyncd;
    create table dirsyncd.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
    insert into dirsyncd.kysely_migration values ('0001-leases', '2026-01-01')`,
  )
  await configure(url)
  expect(await site.run('sync')).toMatchObject({ code: 1, stderr: expect.stringMatching(OTHER_FORM) })
})

test('the tables of an older queue are left by all other commands, and upgraded by the daemon', async () => {
  const url = await createDatabase(STORE_TEMPLATE)
  await configure(url)
  // As before the first step of BullMQ.
  await alter(
    url,
    `drop schema bullmq cascade; create schema bullmq;
    create table bullmq.migration (version integer primary key, name text not null, min_client_version integer not null,
      applied_at timestamptz not null default now())`,
  )
  const before = await contentOf(url)
  for (const command of ['runs', 'sync', 'plan'])
    expect(await site.run(command)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The queue in the store was last used by an older dirsyncd: its tables have version \d+, and this version needs \d+\. Start the daemon of this version with it \(dirsyncd start\), which upgrades it\.\n$/,
      ),
    })
  expect(await contentOf(url)).toEqual(before)
  await using daemon = site.start('start')
  await daemon.waitForOutput(/daemon started/)
  expect(await site.run('runs')).toMatchObject({ code: 0, stderr: '' })
})

/** The URL of the database for a user who has no rights in it. */
async function asLooker(url: string): Promise<string> {
  await alter(url, `do $$ begin create role looker login; exception when duplicate_object then null; end $$`)
  return url.replace(/\/\/[^@]*@/, `//looker@`)
}

/** The URL of a store for a user who has these rights only. */
async function storeWith(rights: string): Promise<string> {
  const url = await createDatabase(STORE_TEMPLATE)
  const looker = await asLooker(url)
  await alter(url, rights)
  return looker
}

async function readOnly(made: Promise<string>): Promise<string> {
  const url = await made
  await alter(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
  return url
}

const CREATING = ['start', 'plan', 'sync', 'pause corp', 'worker']
const THE_STORE = 'The store at 127\\.0\\.0\\.1:\\d+, database \\w+,'
const AS_OWNER = 'connect as the user who made the tables, or make this user their owner\\.\n$'

const REFUSED_RIGHTS: readonly {
  readonly which: string
  readonly make: () => Promise<string>
  readonly commands: readonly string[]
  readonly said: string
}[] = [
  {
    which: 'an empty database in which the user may not create',
    make: async () => asLooker(await createDatabase()),
    commands: CREATING,
    said: `^${THE_STORE} is empty, and its user looker may not make the tables: permission denied for database \\w+; grant the user CREATE on the database\\.\n$`,
  },
  {
    which: 'an empty database that is read-only',
    make: () => readOnly(createDatabase()),
    commands: CREATING,
    said: `^${THE_STORE} is empty, and its user \\w+ may not make the tables: cannot execute CREATE SCHEMA in a read-only transaction; name the primary server, or set default_transaction_read_only to off\\.\n$`,
  },
  {
    which: 'a store that belongs to another user',
    make: async () => asLooker(await createDatabase(STORE_TEMPLATE)),
    commands: ['start', 'runs', 'approve 1', 'worker'],
    said: `^${THE_STORE} has tables that its user looker may not use: permission denied for schema dirsyncd; ${AS_OWNER}`,
  },
  {
    which: 'a store of whose tables the user may change only one',
    make: () =>
      storeWith(`grant usage on schema dirsyncd to looker; grant select, insert on all tables in schema dirsyncd to looker;
        grant update, delete on dirsyncd.changes to looker`),
    commands: ['start', 'plan', 'runs', 'approve 1'],
    said: `^${THE_STORE} has tables that its user looker may not use: permission denied for (?!.* changes,).*, runs.*; ${AS_OWNER}`,
  },
  {
    which: 'a store whose queue the user may not number',
    make: () =>
      storeWith(`grant usage on schema dirsyncd, bullmq to looker;
        grant all on all tables in schema dirsyncd to looker; grant all on all tables in schema bullmq to looker`),
    commands: ['start', 'approve 1'],
    said: `^The queue in the store, database \\w+, has tables that its user looker may not use: permission denied for schema bullmq or a sequence in it; ${AS_OWNER}`,
  },
  {
    which: 'a store on a server that is read-only',
    make: () => readOnly(createDatabase(STORE_TEMPLATE)),
    commands: ['start', 'plan', 'runs', 'approve 1'],
    said: `^${THE_STORE} has tables that its user \\w+ may not use: the database is read-only; name the primary server, or set default_transaction_read_only to off\\.\n$`,
  },
  {
    which: 'a store in whose database the user may not make the tables of the queue',
    make: () =>
      storeWith(`drop schema bullmq cascade; grant usage on schema dirsyncd to looker;
        grant all on all tables in schema dirsyncd to looker`),
    commands: ['start', 'plan', 'approve 1'],
    said: '^The queue in the store, database \\w+, is empty, and its user looker may not make the tables: permission denied for database \\w+; grant the user CREATE on the database\\.\n$',
  },
]

test.each(REFUSED_RIGHTS)('$which: what is missing is said in one sentence', async (refused) => {
  const url = await refused.make()
  await configure(url)
  for (const command of refused.commands) {
    const { code, stderr } = await site.run(...command.split(' '), '--log-level', 'error')
    expect({ command, code, stderr }).toEqual({
      command,
      code: 1,
      stderr: expect.stringMatching(new RegExp(refused.said)),
    })
  }
})

describe('an empty database', () => {
  test('stays empty for those that only look, and each says what that means', async () => {
    const url = await createDatabase()
    await configure(url)
    const before = await contentOf(url)
    expect(await site.run('runs')).toEqual({
      code: 0,
      stdout: 'There are no runs yet; dirsyncd sync starts one.\n',
      stderr: '',
    })
    expect(await site.run('quarantine', 'list')).toMatchObject({ code: 0, stderr: '' })
    const empty = /^The store at .*, is empty; the first dirsyncd start, sync or plan makes its tables\.\n$/
    for (const command of NEED_A_STORE)
      expect(await site.run(...command.split(' '))).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(empty),
      })
    expect(await site.run('sync', 'crop')).toMatchObject({ code: 64 })
    expect(await site.run('pause', 'crop')).toMatchObject({ code: 64 })
    const checked = await site.json('check')
    expect(checked.lines).toContainEqual(
      expect.objectContaining({
        label: 'stores',
        level: 'ok',
        detail:
          'postgres store, which is empty: the first dirsyncd start, sync or plan makes its tables, which this user may; queue on the store',
      }),
    )
    const bundle = JSON.parse((await site.run('bundle', '-')).stdout)
    expect(bundle.missing).toMatchObject([{ part: 'store', code: 'store-empty' }])
    expect(await contentOf(url)).toEqual(before)
  })

  test('in which this user may make no tables fails the check', async () => {
    const url = await createDatabase()
    await configure(await asLooker(url))
    const { code, lines } = await site.json('check')
    expect(code).toBe(1)
    expect(lines).toContainEqual(
      expect.objectContaining({
        label: 'stores',
        level: 'fail',
        detail: expect.stringMatching(
          /^postgres store, which is empty, and the first start would fail: The store cannot be used: permission denied for database \w+; grant the user CREATE/,
        ),
      }),
    )
  })

  test('gets its tables by a pause before the first run', async () => {
    await configure(await createDatabase())
    expect(await site.run('pause', 'corp')).toMatchObject({ code: 0, stderr: '' })
    expect((await site.run('sync')).stderr).toContain('corp has been paused since')
  })

  test('gets its tables by the first plan', async () => {
    await configure(await createDatabase())
    expect(await site.run('plan')).toMatchObject({ code: 2, stderr: '' })
    expect((await site.run('runs')).stdout).toMatch(/\bplanned\b/)
  })
})

test('a store that has no tables of a queue yet gets them by what applies changes, and not by a look', async () => {
  const url = await createDatabase()
  await configure(url)
  expect(await site.run('sync')).toMatchObject({ code: 0, stderr: '' })
  await alter(url, 'drop schema bullmq cascade')
  const before = await contentOf(url)
  expect(await site.run('runs')).toMatchObject({ code: 0, stderr: '' })
  expect(await contentOf(url)).toEqual(before)
  expect(await site.run('undo', '1', '--yes')).toMatchObject({ code: 3, stderr: '' })
  await alter(url, 'drop schema bullmq cascade')
  const run = (await site.json('runs')).lines.find(({ questions }) => questions > 0).run
  expect(await site.run('approve', String(run), '--all')).toMatchObject({ code: 0, stderr: '' })
})

describe('an embedded store', () => {
  beforeEach(() => configure('embedded'))

  test('that is not there is not made by those that only look', async () => {
    await rm(site.dataDir, { recursive: true })
    expect(await site.run('runs')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('There are no runs yet'),
    })
    const empty =
      /^The embedded store in .* is empty; the first dirsyncd start, sync or plan makes its tables\.\n$/
    for (const command of NEED_A_STORE)
      expect({ command, ...(await site.run(...command.split(' '))) }).toEqual({
        command,
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(empty),
      })
    const bundle = JSON.parse((await site.run('bundle', '-')).stdout)
    expect(bundle.missing).toMatchObject([{ part: 'store', code: 'store-empty' }])
    const { lines } = await site.json('check')
    const detail = expect.stringMatching(
      /^embedded store, which is empty: .* which this user may; queue on the store$/,
    )
    expect(lines).toContainEqual(expect.objectContaining({ label: 'stores', level: 'ok', detail }))
    expect(existsSync(site.dataDir)).toBe(false)
  })

  test('that cannot be made fails the check', async () => {
    await rm(site.dataDir, { recursive: true })
    await site.write('data', 'a file')
    const { code, lines } = await site.json('check')
    expect(code).toBe(1)
    const detail = expect.stringMatching(
      /^The data directory .* is no folder\): set dataDir to another one\.$/,
    )
    expect(lines).toContainEqual(expect.objectContaining({ label: 'stores', level: 'fail', detail }))
  })

  test('of another form is refused, also by the daemon, and is left as it is', async () => {
    await rm(site.dataDir, { recursive: true })
    await putEmptyStore(site.dataDir)
    {
      await using store = await openStore({ kind: 'embedded', dataDir: site.dataDir })
      await store.pool.query(`update dirsyncd.migrations set hash = 'of another text'`)
    }
    for (const command of ['plan', 'runs', 'start'])
      expect(await site.run(command)).toMatchObject({ code: 1, stderr: expect.stringMatching(OTHER_FORM) })
    expect(existsSync(join(site.dataDir, 'store'))).toBe(true)
  })
})
