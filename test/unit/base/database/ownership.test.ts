import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { acquireDataDir } from '../../../../src/base/database/owner.ts'
import { whoElseMayReplace } from '../../../../src/base/database/ownership.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'
import { unprivileged } from '../../../support/unprivileged.ts'

const IMPATIENT = { patienceMs: 50 }
/** The number of a user whom the machine does not know. */
const STRANGER = 54_321
const { uid: nobody = 0 } = unprivileged('nobody')

let temp: TempDir

beforeEach(async () => {
  temp = await tempDir()
})

afterEach(async () => {
  process.seteuid!(process.getuid!())
  await temp[Symbol.asyncDispose]()
})

test('a data directory in which every user may replace files is named, unless its sticky bit protects them', async () => {
  expect(await whoElseMayReplace(temp.path)).toBeUndefined()
  await chmod(temp.path, 0o777)
  expect(await whoElseMayReplace(temp.path)).toBe(
    `every user may write the data directory, and so replace what is in it: run chmod o-w ${temp.path}`,
  )
  await chmod(temp.path, 0o1777)
  expect(await whoElseMayReplace(temp.path)).toBeUndefined()
})

/** Only root can give files away and be somebody else. */
describe.runIf(process.getuid?.() === 0)('a data directory of another user', () => {
  test.each([
    [nobody, 'nobody', 'nobody'],
    [STRANGER, `number ${STRANGER}`, `'#${STRANGER}'`],
  ])('root is refused in that of user %i before anything is written', async (uid, name, asUser) => {
    await chown(temp.path, uid, uid)
    const refused = acquireDataDir(temp.path, IMPATIENT)
    await expect(refused).rejects.toMatchObject({ code: 'store-unavailable' })
    await expect(refused).rejects.toThrow(
      `The data directory ${temp.path} belongs to user ${name}, who could not open what root makes in it: run the ` +
        `command as that user, as with \`sudo -u ${asUser} …\`.`,
    )
    expect(await readdir(temp.path)).toEqual([])
  })

  test('root may make one where there is none, but not that of the service in that of another user', async () => {
    await chown(temp.path, STRANGER, STRANGER)
    const service = join(temp.path, 'service')
    {
      await using owned = await acquireDataDir(service)
      expect(owned.dir).toBe(service)
    }
    await rm(service, { recursive: true })
    await writeFile(join(temp.path, 'owner.lock'), '')
    await expect(acquireDataDir(service)).rejects.toThrow(`The data directory ${temp.path} belongs to user`)
    expect(await readdir(temp.path)).toEqual(['owner.lock'])
  })

  test('its user is told of what root has left, and what gives it back', async () => {
    const dir = temp.path
    await chown(dir, nobody, nobody)
    const base = join(dir, 'store', 'base')
    await mkdir(base, { recursive: true, mode: 0o700 })
    await chown(join(dir, 'store'), nobody, nobody)
    process.seteuid!(nobody)
    await expect(openStore({ kind: 'embedded', dataDir: dir })).rejects.toThrow(
      `The embedded store in ${dir} does not open: ${base} belongs to user root; give it to the user of this process by ` +
        `\`chown -R nobody ${dir}/store\` as root.`,
    )
  })

  test('what root has left but everybody may use is used', async () => {
    await chown(temp.path, nobody, nobody)
    await writeFile(join(temp.path, 'owner.lock'), '')
    await chmod(join(temp.path, 'owner.lock'), 0o666)
    process.seteuid!(nobody)
    await using owned = await acquireDataDir(temp.path)
    expect(owned.dir).toBe(temp.path)
  })

  test('that a process may use all the same is named', async () => {
    await chown(temp.path, STRANGER, nobody)
    await chmod(temp.path, 0o770)
    expect(await whoElseMayReplace(temp.path)).toBe(
      `user number ${STRANGER} owns the data directory, and can replace what is in it: run chown root ${temp.path} as root`,
    )
  })
})
