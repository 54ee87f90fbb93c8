import { initial } from './0001-initial.ts'

export const STORE_TABLES = {
  schema: 'dirsyncd',
  migrations: { '0001-initial': initial },
}
