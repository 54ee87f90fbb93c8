import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createKey, openReloadableVault } from '../../../../src/service/keys/key-file.ts'
import { openVault } from '../../../../src/service/keys/vault.ts'
import { tempDir } from '../../../support/temp.ts'

const DAY = new Date('2026-01-31T12:00:00Z')

test('a new file has one key and is for its owner only', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'keys')
  const { keyId, ...made } = await createKey(path, DAY)
  expect(made).toEqual({ path, olderKeyIds: [] })
  expect(keyId).toMatch(/^k20260131-[0-9a-f]{6}$/)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(openVault(path).keyIds).toEqual([keyId])
  expect((await createKey(join(dir.path, 'other'), DAY)).keyId).not.toBe(keyId)
  await rm(join(dir.path, 'other'))
  expect(await readdir(dir.path)).toEqual(['keys'])
})

test('a key is put in front of those that a file has, whose lines and mode stay', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'keys')
  const first = await createKey(path, DAY)
  const before = `# ours\n${await readFile(path, 'utf8')}`
  await writeFile(path, before)
  await chmod(path, 0o640)
  await symlink('keys', join(dir.path, 'link'))
  const second = await createKey(join(dir.path, 'link'), DAY)
  expect(second.path).toBe(path)
  const third = await createKey(path, DAY)
  expect(third.olderKeyIds).toEqual([second.keyId, first.keyId])
  expect(openVault(path).keyIds).toEqual([third.keyId, second.keyId, first.keyId])
  await rm(join(dir.path, 'link'))
  expect((await readFile(path, 'utf8')).endsWith(before)).toBe(true)
  expect((await stat(path)).mode & 0o777).toBe(0o640)
  expect(await readdir(dir.path)).toEqual(['keys'])
})

test('a file of something else is left alone', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'notes')
  await writeFile(path, 'remember the milk\n')
  await expect(createKey(path, DAY)).rejects.toThrow(/^Line 1 of the key file .* is no key/)
  expect(await readFile(path, 'utf8')).toBe('remember the milk\n')
})

test('who comes while another one makes the file is told so', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'keys')
  await writeFile(`${path}.new`, '')
  await expect(createKey(path, DAY)).rejects.toThrow(/Another process is making .*; .* remove .*keys\.new/)
  expect(await readdir(dir.path)).toEqual(['keys.new'])
})

test.each([
  ['no/such/keys', /cannot be written: its folder does not exist; name another one\.$/],
  ['folder', /cannot be read: it is a folder; name another one\.$/],
])('a path that cannot be one of a file: %s', async (name, sentence) => {
  await using dir = await tempDir()
  await mkdir(join(dir.path, 'folder'))
  await expect(createKey(join(dir.path, name), DAY)).rejects.toThrow(sentence)
})

test('a vault in use takes the keys of the file when it is told to, and keeps its own where the file is broken', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'keys')
  const first = await createKey(path, DAY)
  const vault = openReloadableVault(path)
  const sealed = vault.seal('secret', 'a')
  const second = await createKey(path, DAY)
  expect(vault.keyId).toBe(first.keyId)
  expect((await vault.reload(async () => {})).keyId).toBe(second.keyId)
  expect(vault.open(sealed, first.keyId, 'a')).toBe('secret')
  await writeFile(path, 'nonsense\n')
  await expect(vault.reload(async () => {})).rejects.toThrow(/is no key/)
  await createKey(join(dir.path, 'other'), DAY)
  await rename(join(dir.path, 'other'), path)
  await expect(vault.reload(() => Promise.reject(new Error('a key is missing')))).rejects.toThrow('missing')
  expect(vault.open(vault.seal('new', 'b'), vault.keyId, 'b')).toBe('new')
})
