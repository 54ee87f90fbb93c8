import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import { migrations } from '../../src/store/migrations/index.ts'
import { createDatabase } from './databases.ts'

/** In this order, because changes and notices refer to runs. */
const TABLES = [
  'leases',
  'settings',
  'runs',
  'changes',
  'journal',
  'notices',
  'quarantine',
  'decisions',
  'last_good',
]
const LATER_TABLES = ['baselines', 'absences', 'held_changes']

/** Creates an empty store of a version that knew no migration after `last`. Resolves with its URL. */
export async function createOlderStore(last: string): Promise<string> {
  const url = await createDatabase('template0')
  await migrateUpTo(url, last)
  return url
}

/**
 * Copies a store as a version would have left it that knew no migration after `last`: with the tables and columns of
 * that version, and what these hold here. Resolves with the URL of the copy.
 */
export async function copyAsOlderStore(url: string, last: string): Promise<string> {
  const copyUrl = await createOlderStore(last)
  await using stack = new AsyncDisposableStack()
  const [from, to] = [stack.adopt(new pg.Client(url), end), stack.adopt(new pg.Client(copyUrl), end)]
  await Promise.all([from.connect(), to.connect()])
  for (const table of [...TABLES, ...LATER_TABLES]) await copyTable(from, to, table)
  await putListsBack(from, to)
  await to.query(`select setval(pg_get_serial_sequence('dirsyncd.runs', 'run'), max(run)) from dirsyncd.runs`)
  await to.query(
    `select setval(pg_get_serial_sequence('dirsyncd.journal', 'id'), max(id)) from dirsyncd.journal`,
  )
  return copyUrl
}

/** Before the table `held_changes`, each breach had the list of its changes in place of their number. */
async function putListsBack(from: pg.Client, to: pg.Client): Promise<void> {
  const { rows: tables } = await to.query(`select to_regclass('dirsyncd.held_changes') as known`)
  if (tables[0].known !== null) return
  const { rows } = await from.query(`select r.run, (
      select jsonb_agg(breach || jsonb_build_object('changes', coalesce((
        select jsonb_agg(change) from dirsyncd.held_changes as h, unnest(h.fingerprints) as change
        where h.run = r.run and place - 1 = any(h.breaches)), '[]')) order by place)
      from jsonb_array_elements(r.breaches) with ordinality as b(breach, place)) as breaches
    from dirsyncd.runs as r where jsonb_array_length(r.breaches) > 0`)
  for (const { run, breaches } of rows)
    await to.query('update dirsyncd.runs set breaches = $1 where run = $2', [JSON.stringify(breaches), run])
}

const end = (client: pg.Client) => client.end()

async function migrateUpTo(url: string, last: string): Promise<void> {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) })
  await db.schema.createSchema('dirsyncd').execute()
  const provider = { getMigrations: async () => migrations }
  const migrator = new Migrator({ db, provider, migrationTableSchema: 'dirsyncd' })
  const { error } = await migrator.migrateTo(last)
  await db.destroy()
  if (error !== undefined) throw error
}

async function copyTable(from: pg.Client, to: pg.Client, table: string): Promise<void> {
  const query =
    "select column_name as name from information_schema.columns where table_schema = 'dirsyncd' and table_name = $1"
  const { rows: columns } = await to.query<{ name: string }>(query, [table])
  if (columns.length === 0) return
  const names = columns.map(({ name }) => name).join(', ')
  const { rows } = await from.query(
    `select coalesce(json_agg(r), '[]')::text as rows from dirsyncd.${table} as r`,
  )
  await to.query(
    `insert into dirsyncd.${table} (${names}) overriding system value
      select ${names} from json_populate_recordset(null::dirsyncd.${table}, $1)`,
    [rows[0].rows],
  )
}
