import type { Database } from '../store/database.ts'
import type { KeyRotation } from './keys.ts'

/** What the operations work on. */
export interface AdminDeps {
  readonly db: Database
  readonly now: () => Date
  /** Reads the key file again and seals everything with its first key. */
  readonly rotateKeys: () => Promise<KeyRotation>
}
