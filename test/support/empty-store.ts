import { constants } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmbeddedPool } from '../../src/store/embedded.ts'

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const CACHE = join(MODULES, '.cache', 'dirsyncd-tests')

/**
 * Puts an empty embedded database into a data directory that has none yet. To create one costs seconds of a whole core,
 * and most tests are about something else.
 */
export async function putEmptyStore(dataDir: string): Promise<void> {
  const store = join(dataDir, 'store')
  if (await exists(store)) return
  const template = await makeTemplateStore()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await cp(template, store, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** Makes what is copied, unless it is there, and resolves with its path. */
export async function makeTemplateStore(): Promise<string> {
  const about = await readFile(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8')
  const template = join(CACHE, `store-${JSON.parse(about).version}`)
  if (await exists(template)) return template
  await mkdir(CACHE, { recursive: true })
  const made = await mkdtemp(join(CACHE, 'making-'))
  await (await openEmbeddedPool(join(made, 'store'))).end()
  // Whoever comes second finds the place taken, by the same.
  await rename(join(made, 'store'), template).catch(async (error: unknown) => {
    if (!(await exists(template))) throw error
  })
  await rm(made, { recursive: true, force: true })
  return template
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
