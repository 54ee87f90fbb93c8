import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { runSql } from './postgres.ts'

/** Template databases on the PostgreSQL server of the test run. */
export const STORE_TEMPLATE = 'template_store'
export const SERVICE_TEMPLATE = 'template_service'

/** Creates a database on the PostgreSQL server of the test run, by default an empty one. Resolves with its URL. */
export async function createDatabase(template = 'template0'): Promise<string> {
  const server = inject('postgres')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runSql(server, `create database ${name} template ${template}`)
  return server.replace(/postgres$/, name)
}
