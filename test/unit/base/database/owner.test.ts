import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mayHaveStore } from '../../../../src/base/database/aside.ts'
import { acquireDataDir, ownerOf, requireUsable } from '../../../../src/base/database/owner.ts'
import { tempDir } from '../../../support/temp.ts'

const IMPATIENT = { patienceMs: 50 }

test('a second owner is refused, and told who has the directory', async () => {
  await using temp = await tempDir()
  await using _first = await acquireDataDir(temp.path, { command: 'dirsyncd start' })
  const second = acquireDataDir(temp.path, IMPATIENT)
  await expect(second).rejects.toMatchObject({ code: 'store-owned' })
  await expect(second).rejects.toThrow(new RegExp(`process ${process.pid} on .* \\(dirsyncd start, since 20`))
  await expect(second).rejects.toThrow(new RegExp(`End it first: kill ${process.pid}\\.$`))
})

test('an owner is one that lives and has the lock', async () => {
  await using temp = await tempDir()
  expect(await ownerOf(temp.path)).toBeUndefined()
  const first = await acquireDataDir(temp.path, { command: 'dirsyncd start' })
  expect(await ownerOf(temp.path)).toMatchObject({ pid: process.pid, command: 'dirsyncd start' })
  const left = await readFile(join(temp.path, 'owner.json'))
  await first[Symbol.asyncDispose]()
  await writeFile(join(temp.path, 'owner.json'), left)
  expect(await ownerOf(temp.path)).toBeUndefined()
  await using _next = await acquireDataDir(temp.path, IMPATIENT)
})

test('what its owner has left can be owned again, and says nothing of the old one', async () => {
  await using temp = await tempDir()
  const first = await acquireDataDir(temp.path)
  await first[Symbol.asyncDispose]()
  expect(await readdir(temp.path)).not.toContain('owner.json')
  await using again = await acquireDataDir(temp.path, IMPATIENT)
  expect(again).toMatchObject({ dir: temp.path, died: undefined })
})

test('the next owner learns the name of one that died', async () => {
  await using temp = await tempDir()
  const name = 'somewhere:4711:mjulw2f4'
  const dead = { name, pid: 4711, host: 'somewhere', since: '2026-01-01', command: 'dirsyncd start' }
  await writeFile(join(temp.path, 'owner.json'), JSON.stringify(dead))
  await using next = await acquireDataDir(temp.path)
  expect(next.died).toBe(name)
})

test('a directory that does not exist is made, with its parents, for this user only', async () => {
  await using temp = await tempDir()
  const dir = join(temp.path, 'a', 'b')
  await using _owned = await acquireDataDir(dir)
  expect(JSON.parse(await readFile(join(dir, 'owner.json'), 'utf8'))).toMatchObject({ pid: process.pid })
  for (const made of [dir, join(temp.path, 'a')]) expect((await stat(made)).mode & 0o777).toBe(0o700)
})

test.each([
  ['a file in its place', 'file'],
  ['a file above it', 'file/data'],
  ['a link to nothing', 'link'],
  ['a link to nothing above it', 'link/data'],
])('%s: one sentence with the directory and the user', async (_case, path) => {
  await using temp = await tempDir()
  await writeFile(join(temp.path, 'file'), '')
  await symlink('nothing', join(temp.path, 'link'))
  const dir = join(temp.path, path)
  expect(await mayHaveStore(dir)).toBe(true)
  await expect(requireUsable(dir)).rejects.toThrow(`The data directory ${dir} cannot be written by user `)
  const opening = acquireDataDir(dir)
  await expect(opening).rejects.toMatchObject({ code: 'store-unavailable' })
  await expect(opening).rejects.toThrow(`The data directory ${dir} cannot be written by user `)
})

test.runIf(process.platform === 'linux')('a place where nothing can be made does not hang', async () => {
  await expect(acquireDataDir('/proc/dirsyncd')).rejects.toMatchObject({ code: 'store-unavailable' })
})

test.runIf(process.platform === 'linux')('a full disk is said to be full', async () => {
  await using temp = await tempDir()
  const dir = temp.path
  await symlink('/dev/full', join(dir, `owner.json.${process.pid}`))
  await expect(acquireDataDir(dir)).rejects.toThrow(
    `The disk of the data directory ${dir} is full (ENOSPC: no space left on device, write): free space there.`,
  )
})

test('an unreadable introduction does not hide that the directory is in use', async () => {
  await using temp = await tempDir()
  await using _first = await acquireDataDir(temp.path)
  await writeFile(join(temp.path, 'owner.json'), '{')
  await expect(acquireDataDir(temp.path, IMPATIENT)).rejects.toThrow(/is in use by another process/)
})
