import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { openStore } from '../../src/store/open.ts'
import { makeServiceTables } from './service-tables.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/dirsyncd-tests')

/**
 * Copies an embedded database with empty tables into a data directory that has none. Creating the database takes
 * seconds of CPU time; copying it does not.
 */
export async function putEmptyStore(dataDir: string): Promise<void> {
  const store = join(dataDir, 'store')
  if (await exists(store)) return
  const template = await makeTemplateStore()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await cp(template, store, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** Creates the template database unless the cache has it. Resolves with its path. */
export async function makeTemplateStore(): Promise<string> {
  const template = join(CACHE, `store-${await digest()}`)
  if (await exists(template)) return template
  await mkdir(CACHE, { recursive: true })
  const unfinished = await mkdtemp(join(CACHE, 'making-'))
  {
    await using store = await openStore({ kind: 'embedded', dataDir: unfinished })
    await using _backend = await openQueueBackend({ kind: 'store', store })
    await makeServiceTables(store.pool)
  }
  // The rename fails when another process has put the same template there meanwhile.
  await rename(join(unfinished, 'store'), template).catch(async (error: unknown) => {
    if (!(await exists(template))) throw error
  })
  await rm(unfinished, { recursive: true, force: true })
  return template
}

/** A hash of everything that defines the tables: the versions of the libraries and our migrations. */
async function digest(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(ROOT, 'package-lock.json')))
  for (const folder of ['src/store/migrations', 'src/service/store/migrations']) {
    const at = join(ROOT, folder)
    for (const file of (await readdir(at)).toSorted()) hash.update(await readFile(join(at, file)))
  }
  return hash.digest('hex').slice(0, 12)
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
