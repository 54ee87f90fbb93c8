import { existsSync, readdirSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, embeddedConfig } from '../support/sync-config.ts'
import { eventually } from '../support/eventually.ts'

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let database: string

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  database = await createDatabase(STORE_TEMPLATE)
})

afterEach(() => stack.disposeAsync())

async function configure(more: object = {}): Promise<void> {
  const map = { external_id: 'id', email: 'mail', name: 'name' }
  const source = { type: 'csv', settle: '1ms', users: { path: './users.csv', map } }
  const directory = directorySection(service, { allowedDomains: undefined })
  await site.configure(embeddedConfig([{ name: 'corp', source, directory }], more))
}

function people(count: number): Promise<string> {
  const rows = Array.from({ length: count }, (_, nth) => `u${nth},u${nth}@example.org,Person ${nth}`)
  return site.write('users.csv', ['id,mail,name', 'bad,bad@other.example,Bad', ...rows, ''].join('\n'))
}

/** Everything that commands show of the past and of open questions. */
async function shown(): Promise<readonly unknown[]> {
  const commands = [['runs'], ['runs', '1', '--all'], ['runs', '2', '--all'], ['quarantine', 'list']]
  const answers: unknown[] = []
  // One after the other: each has the embedded store for itself.
  for (const command of commands) answers.push(await site.json(...command))
  return answers
}

test('the history, questions and quarantine of an embedded store go on in PostgreSQL', async () => {
  await configure()
  await people(40)
  expect((await site.run('sync', 'corp')).code).toBe(4)
  await people(20)
  expect((await site.run('sync', 'corp')).code).toBe(3)
  const before = await shown()

  expect(await site.run('store', 'move')).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('set `store` to a postgres:// URL first'),
  })
  await configure({ store: database })
  const moved = await site.run('store', 'move')
  expect(moved).toMatchObject({ code: 0, stderr: '' })
  expect(moved.stdout).toMatch(/^Moved:\n/)
  expect(moved.stdout).toMatch(/\n {2}runs: 2\n/)
  expect(moved.stdout).toMatch(/\n {2}quarantine: 1\n/)
  expect(await shown()).toEqual(before)
  expect(existsSync(join(site.dataDir, 'store'))).toBe(false)
  expect(readdirSync(site.dataDir).filter((name) => name.startsWith('store.moved-'))).toHaveLength(1)

  const approved = await site.json('approve', '2', '--all')
  // What is in quarantine stays there.
  expect(approved).toMatchObject({ code: 4 })
  const { lines } = await site.json('runs')
  expect(lines.flat().map(({ run, state }) => `${run} ${state}`)).toEqual(['3 done', '2 held', '1 done'])
  expect(await site.run('store', 'move')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^All is in PostgreSQL already\.\nThe files .*store\.moved-/),
  })
})

/** Has each commit of a run wait for longer than the test takes. */
async function holdCommits(pool: Pool): Promise<void> {
  await pool.query(`CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(3600); RETURN NULL; END $$`)
  await pool.query(`CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON dirsyncd.runs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION public.wait()`)
}

/** Nothing but the move opens the empty store beside the one that has all decisions. */
async function expectUnmoved(files: string): Promise<void> {
  for (const command of ['runs', 'plan', 'sync', 'start', 'worker'])
    expect(await site.run(command)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `^The PostgreSQL store has no runs, and the embedded store in ${files}.* was not moved, or not completely: run dirsyncd store move `,
      ),
    })
}

/** Resolves with the connection whose commit waits. */
function waitingCommit(pool: Pool): Promise<number> {
  return eventually(async () => {
    const { rows } = await pool.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'PgSleep'`)
    expect(rows).toHaveLength(1)
    return rows[0]!.pid
  })
}

async function breakConnection(pool: Pool, pid: number): Promise<void> {
  await pool.query('SELECT pg_terminate_backend($1)', [pid])
}

test('while the commit waits, neither store can be taken for the one that counts; a lost one undoes the move', async () => {
  await configure()
  await people(5)
  await site.run('plan', 'corp')
  await configure({ store: database })
  const pool = stack.adopt(new Pool({ connectionString: database }), (opened) => opened.end())
  await holdCommits(pool)
  const store = join(site.dataDir, 'store')
  const asides = () => readdirSync(site.dataDir).filter((name) => name.startsWith('store.mov'))
  const untilAside = () => eventually(() => expect([existsSync(store), asides().length]).toEqual([false, 1]))

  const moving = site.run('store', 'move')
  await untilAside()
  await breakConnection(pool, await waitingCommit(pool))
  expect(await moving).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Nothing was moved, because the connection to PostgreSQL broke \(.*[^.]\): the embedded store is as it was\.\n$/,
    ),
  })
  expect([existsSync(store), asides()]).toEqual([true, []])

  const killed = stack.use(site.start('store', 'move'))
  await untilAside()
  const commit = await waitingCommit(pool)
  killed.kill('SIGKILL')
  await killed.ended
  await breakConnection(pool, commit)
  expect([existsSync(store), asides().length]).toEqual([false, 1])
  await pool.query('DROP TRIGGER wait ON dirsyncd.runs')
  await expectUnmoved(`${store}.moving`)
  expect((await site.run('store', 'move')).stdout).toMatch(/\n {2}runs: 1\n/)
  expect([existsSync(store), asides().length]).toEqual([false, 1])
})

test('a store that was moved is not opened again by an old configuration, and one that was not is named', async () => {
  await configure()
  await people(5)
  await site.run('plan', 'corp')
  await configure({ store: database })
  const store = join(site.dataDir, 'store')
  await expectUnmoved(store)
  expect((await site.run('store', 'move')).code).toBe(0)
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  await daemon[Symbol.asyncDispose]()

  const aside = readdirSync(site.dataDir).find((name) => name.startsWith('store.moved-')) ?? ''
  // Without what configuring an embedded store of a test makes.
  const before = await readFile(join(site.dir, 'dirsyncd.yaml'), 'utf8')
  await site.write('dirsyncd.yaml', before.replace(/^store: .*$/m, 'store: embedded'))
  const refused = await site.run('runs')
  expect(refused.stderr).toBe(
    `The embedded store of ${site.dataDir} was moved to PostgreSQL, and its files are in ${join(site.dataDir, aside)}: ` +
      'name that database in `store`, or, to go back to what they hold, rename them to `store`; to begin with an empty ' +
      'store, move them elsewhere.\n',
  )
  expect(await site.start('start').ended).toMatchObject({ code: 1, stderr: refused.stderr })
  expect(existsSync(store)).toBe(false)
  await rename(join(site.dataDir, aside), store)
  expect(await site.run('runs')).toMatchObject({ code: 0, stderr: '' })
})

test('a row that does not arrive is a move that did not happen', async () => {
  await configure()
  await people(5)
  await site.run('plan', 'corp')
  await configure({ store: database })
  const pool = stack.adopt(new Pool({ connectionString: database }), (opened) => opened.end())
  await pool.query('CREATE RULE lose AS ON INSERT TO dirsyncd.changes DO INSTEAD NOTHING')
  const store = join(site.dataDir, 'store')
  expect(await site.run('store', 'move')).toMatchObject({
    code: 1,
    stderr:
      'Nothing was moved, because it failed (0 of 6 rows of changes arrived): the embedded store is as it was.\n',
  })
  expect(existsSync(store)).toBe(true)
  await pool.query('DROP RULE lose ON dirsyncd.changes')
  expect((await site.run('store', 'move')).stdout).toMatch(/\n {2}changes: 6\n/)
})

test('numbers go on where they were, also after rows that are gone', async () => {
  await configure()
  await people(5)
  await site.run('plan', 'corp')
  await site.run('plan', 'corp')
  {
    await using embedded = await openStore({ kind: 'embedded', dataDir: site.dataDir })
    await embedded.pool.query('DELETE FROM dirsyncd.runs WHERE run = 2')
  }
  await configure({ store: database })
  expect((await site.run('store', 'move')).code).toBe(0)
  await site.run('plan', 'corp')
  expect((await site.json('runs')).lines.flat().map(({ run }) => run)).toEqual([3, 1])
})

test('a store that has only a pause is moved, and is open then', async () => {
  await configure()
  await site.run('pause', 'corp')
  await configure({ store: database })
  expect((await site.run('store', 'move')).stdout).toMatch(/\n {2}paused syncs: 1\n/)
  expect(await site.run('pause', 'corp')).toMatchObject({ code: 0, stderr: '' })
})

test('nothing is moved into a database that has runs, nor while a daemon has the store', async () => {
  await configure({ store: database })
  await people(5)
  expect((await site.run('sync', 'corp')).code).toBe(4)
  await configure()
  await people(3)
  await site.run('plan', 'corp')
  await configure({ store: database })
  const refused = await site.run('store', 'move')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has runs already, so nothing was moved'),
  })
  const [store, aside] = [join(site.dataDir, 'store'), join(site.dataDir, 'store.moved-1')]
  await rename(store, aside)
  expect(await site.run('store', 'move')).toEqual(refused)
  await rename(aside, store)
  const pool = new Pool({ connectionString: database })
  expect((await pool.query('SELECT run FROM dirsyncd.runs')).rows).toEqual([{ run: 1 }])
  await pool.end()

  await configure()
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  await configure({ store: await createDatabase(STORE_TEMPLATE) })
  expect(await site.run('store', 'move')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/dirsyncd start/),
  })
})

test('files of a finished move go into no other database, and nothing goes into one that has a pause', async () => {
  await people(3)
  await configure()
  await site.run('plan', 'corp')
  const store = join(site.dataDir, 'store')
  const aside = join(site.dataDir, 'store.moved-2026-01-01T000000')
  await rename(store, aside)
  database = await createDatabase(STORE_TEMPLATE)
  await configure({ store: database })
  expect(await site.run('store', 'move')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'The embedded store was moved already, and not into the database that `store` names: name the one that it was moved ' +
      `into, or, to move the old files in ${aside} once more, rename them to ${store}.\n`,
  })
  expect(existsSync(aside)).toBe(true)
  await site.run('pause', 'corp')
  await rename(aside, store)
  expect(await site.run('store', 'move')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /has rows in its table paused_syncs, so nothing was moved into it: name an empty/,
    ),
  })
  expect(existsSync(store)).toBe(true)
})
