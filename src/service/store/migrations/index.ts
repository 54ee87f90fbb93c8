import { SCHEMA } from '../database.ts'
import { initial } from './0001-initial.ts'

export const SERVICE_TABLES = {
  schema: SCHEMA,
  migrations: { '0001-initial': initial },
}
