import files, { readdir } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { writeNewFile } from '../../../../src/base/terminal/new-file.ts'
import { tempDir } from '../../../support/temp.ts'

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

const failure = (code: string) => Object.assign(new Error(`${code}: said by the system`), { code })
const write = (path: string, make = () => Promise.resolve('text')) =>
  writeNewFile({ path, what: 'It cannot be written' }, make, String)

test.each([
  ['EACCES', 1, 'this user may not write there; name another one.'],
  ['EROFS', 1, 'it is on a disk that is read-only; name another one.'],
  ['EIO', 1, 'EIO: said by the system; name another one.'],
  ['ENOENT', 64, 'its folder does not exist; name another one.'],
  ['ENOTDIR', 64, 'a part of its path is no folder; name another one.'],
  ['EEXIST', 64, 'it exists; remove it or name another one.'],
])(
  'a file that cannot be made (%s) ends with exit code %i and a sentence about writing',
  async (code, exitCode, why) => {
    vi.spyOn(files, 'open').mockRejectedValue(failure(code))
    syncBuiltinESMExports()
    await expect(write('/tmp/x')).rejects.toMatchObject({ exitCode, message: `It cannot be written: ${why}` })
  },
)

test('a disk that is full leaves no part of a file', async () => {
  await using dir = await tempDir()
  const { open } = files
  vi.spyOn(files, 'open').mockImplementation(async (...args) => {
    const file = await open(...args)
    return Object.assign(file, { writeFile: () => Promise.reject(failure('ENOSPC')) })
  })
  syncBuiltinESMExports()
  await expect(write(join(dir.path, 'x'))).rejects.toMatchObject({
    exitCode: 1,
    message: 'It cannot be written: the disk is full; name another one.',
  })
  expect(await readdir(dir.path)).toEqual([])
})

test('where nothing is made for it, no file stays', async () => {
  await using dir = await tempDir()
  await expect(write(join(dir.path, 'x'), () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  )
  expect(await readdir(dir.path)).toEqual([])
})
