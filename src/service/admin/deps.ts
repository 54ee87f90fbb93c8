import type { Pool } from 'pg'
import type { Database } from '../store/database.ts'
import type { WriteContext } from '../store/resource-tables.ts'
import type { KeyRotation } from './keys.ts'

export interface AdminDeps {
  readonly pool: Pool
  readonly db: Database
  readonly now: () => Date
  /** The service's address for clients; empty where the configuration names none. */
  readonly publicUrl: string
  /** Throws `DirsyncdError('secret-unavailable')` where the key file is unusable or not that of the store. */
  readonly writeContext: () => Promise<WriteContext>
  /** Reads the key file and re-encrypts everything with its first key. */
  readonly rotateKeys: () => Promise<KeyRotation>
}
