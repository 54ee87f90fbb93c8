import type { Pool } from 'pg'
import type { Database } from '../store/database.ts'
import type { WriteContext } from '../store/resource-tables.ts'
import type { KeyRotation } from './keys.ts'

/** What the operations work on. */
export interface AdminDeps {
  readonly pool: Pool
  readonly db: Database
  readonly now: () => Date
  /** The address of the service for its clients; empty where the configuration names none. */
  readonly publicUrl: string
  /** Throws `DirsyncdError('secret-unavailable')` where the key file is not usable or not that of the store. */
  readonly writeContext: () => Promise<WriteContext>
  /** Reads the key file again and seals everything with its first key. */
  readonly rotateKeys: () => Promise<KeyRotation>
}
