import type { Database } from '../store/database.ts'
import type { KeyRotation } from './keys.ts'

/** What the operations work on. */
export interface AdminDeps {
  readonly db: Database
  readonly now: () => Date
  /** Seals everything again with the first key that stands in the key file now. */
  readonly rotateKeys: () => Promise<KeyRotation>
}
