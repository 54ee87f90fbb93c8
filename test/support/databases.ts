import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { runOn } from './postgres.ts'

/** Databases of the test run's PostgreSQL that others are copied from. */
export const STORE_TEMPLATE = 'template_store'
export const SERVICE_TEMPLATE = 'template_service'

/** Makes a database on the test run's PostgreSQL, empty or with the tables of a template, and resolves with its URL. */
export async function createDatabase(template = 'template0'): Promise<string> {
  const server = inject('postgres')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runOn(server, `create database ${name} template ${template}`)
  return server.replace(/postgres$/, name)
}
