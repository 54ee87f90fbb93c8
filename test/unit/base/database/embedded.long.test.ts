import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type EmbeddedPool, openEmbeddedPool } from '../../../../src/base/database/embedded.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'
import { TABLE, testTransactions } from './embedded.ts'

let temp: TempDir
let pool: EmbeddedPool

beforeAll(async () => {
  temp = await tempDir()
  pool = await openEmbeddedPool(join(temp.path, 'store'))
  await pool.query(TABLE)
})

afterAll(async () => {
  await pool.end()
  await temp[Symbol.asyncDispose]()
})

testTransactions(() => pool, 25)
