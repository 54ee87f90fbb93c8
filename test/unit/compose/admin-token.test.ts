import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownToken } from '../../../src/compose/admin-token.ts'
import { type TempDir, tempDir } from '../../support/temp.ts'

const [DAEMON, STRANGER] = [54_321, 12_345]

let temp: TempDir
let dir: string

beforeEach(async () => {
  temp = await tempDir()
  dir = join(temp.path, 'data')
  await chmod(temp.path, 0o755)
  await mkdir(dir)
})

afterEach(async () => {
  process.seteuid!(process.getuid!())
  await temp[Symbol.asyncDispose]()
})

/** Only root can give files away and be somebody else. */
describe.runIf(process.getuid?.() === 0)('a token in the data directory that another user has made', () => {
  const PLANTED = [
    ['admin-token', 'the file', (path: string) => writeFile(path, 'planted')],
    ['admin-token', 'a link', (path: string) => symlink(join(temp.path, 'own'), path)],
    ['admin-token.new', 'the file of a start that was killed', (path: string) => writeFile(path, 'planted')],
  ] as const

  test.each(PLANTED)('is refused and named: %s, %s', async (name, _what, plant) => {
    const path = join(dir, name)
    await writeFile(join(temp.path, 'own'), 'planted')
    await chown(join(temp.path, 'own'), DAEMON, DAEMON)
    await chown(dir, DAEMON, DAEMON)
    await chmod(dir, 0o777)
    process.seteuid!(STRANGER)
    await plant(path)
    process.seteuid!(0)
    process.seteuid!(DAEMON)
    const refused = ownToken(dir)
    await expect(refused).rejects.toMatchObject({ code: 'secret-unavailable' })
    await expect(refused).rejects.toThrow(
      `The file ${path} belongs to user number ${STRANGER} and not to the user of this process, so its token is not used: ` +
        'find out who made it, and remove it; the next start makes a new one.',
    )
    expect(await readdir(dir)).toEqual([name])
  })

  test('is refused as a link of root to the file of somebody else', async () => {
    await symlink(join(temp.path, 'other'), join(dir, 'admin-token'))
    await expect(ownToken(dir)).rejects.toThrow('is no plain file, so its token is not used')
  })

  test('is refused to root as well, and is used where its owner is this user', async () => {
    const path = join(dir, 'admin-token')
    await writeFile(path, 'planted')
    await chown(path, STRANGER, STRANGER)
    await expect(ownToken(dir)).rejects.toThrow(`The file ${path} belongs to user number ${STRANGER}`)
    await rm(path)
    const { token } = await ownToken(dir)
    expect([(await stat(path)).mode & 0o777, (await readFile(path, 'utf8')).trim()]).toEqual([
      0o600,
      await token.read(),
    ])
  })
})
