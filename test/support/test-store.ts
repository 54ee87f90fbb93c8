import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Tables } from '../../src/store/tables.ts'
import type { Store } from '../../src/store/open.ts'
import { backendNamed, type OpenBackend } from './backends.ts'

/** What the syncs of the tests write to. */
export const TARGET = 'https://access.example.com/directories/7'

/** An empty store on PostgreSQL for a test file. Each test has a sync of its own. */
export interface TestStore {
  readonly store: Store
  readonly db: Kysely<Tables>
  /** The name of the test's sync. */
  readonly sync: string
}

export function useTestStore(): TestStore {
  let opened: OpenBackend
  let tests = 0
  beforeAll(async () => {
    opened = await backendNamed('postgres').open()
  })
  afterAll(() => opened?.close())
  beforeEach(() => {
    tests += 1
  })
  return {
    get store() {
      return opened.store
    },
    get db() {
      return opened.store.db
    },
    get sync() {
      return `sync-${tests}`
    },
  }
}
