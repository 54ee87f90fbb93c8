import type { Pool } from 'pg'
import { SERVICE_TABLES } from '../../src/service/store/migrations/index.ts'
import { makeTables } from '../../src/base/database/make-tables.ts'

/** Makes the tables of the service in an empty database. */
export function makeServiceTables(pool: Pool): Promise<void> {
  return makeTables(pool, SERVICE_TABLES, {
    program: 'access-service',
    where: () => 'The store of the service',
    rights: 'create',
    withoutIt: '',
  })
}
