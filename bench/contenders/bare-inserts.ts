import { Pool } from 'pg'
import { serveContender } from '../contender.ts'
import { entriesOf } from '../people.ts'

export interface BareInsertsTask {
  /** The URL of a database. */
  readonly database: string
  readonly people: number
  /** Connections. */
  readonly concurrency: number
  /** Users of one INSERT. */
  readonly perRequest: number
}

/** Only the rows: one INSERT into a table with one index, in place of each request. */
serveContender(async (task: BareInsertsTask) => {
  const pool = new Pool({ connectionString: task.database, max: task.concurrency })
  await pool.query('drop table if exists bare_users')
  await pool.query('create table bare_users (external_id text primary key, email text, name text)')
  const { users } = entriesOf(task.people)
  return {
    async run() {
      await pool.query('truncate bare_users')
      let next = 0
      const insert = async () => {
        for (let start = next; start < users.length; start = next) {
          next += task.perRequest
          const rows = users.slice(start, start + task.perRequest)
          await pool.query(
            'insert into bare_users select * from unnest($1::text[], $2::text[], $3::text[])',
            [
              rows.map((user) => user.external_id),
              rows.map((user) => user.email),
              rows.map((user) => user.name),
            ],
          )
        }
      }
      await Promise.all(Array.from({ length: task.concurrency }, insert))
    },
    close: () => pool.end(),
  }
})
