import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePath, openStage, requireNewFile } from '../../../../src/compose/init/stage.ts'
import { createFolder, type Folder } from '../../config/folder.ts'

async function folder(): Promise<Folder> {
  const created = await createFolder()
  onTestFinished(() => created[Symbol.asyncDispose]())
  return created
}

const FILES = [
  { path: 'ldap-ca.pem', text: 'certificate' },
  { path: 'secrets/access-token', text: 'secret\n' },
]

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

test('all is placed, with secrets that only their owner may read', async () => {
  const { path } = await folder()
  const file = join(path, 'new', 'conf', 'dirsyncd.yaml')
  {
    await using stage = await openStage(file, 'dataDir: x\n', FILES)
    expect(await modeOf(join(stage.file, '..'))).toBe('700')
    expect(await stage.place()).toEqual([
      join(path, 'new/conf/ldap-ca.pem'),
      join(path, 'new/conf/secrets/access-token'),
      file,
    ])
  }
  expect(await readdir(path)).toEqual(['new'])
  expect(await readFile(file, 'utf8')).toBe('dataDir: x\n')
  expect(await modeOf(join(path, 'new/conf/secrets'))).toBe('700')
  expect(await modeOf(join(path, 'new/conf/secrets/access-token'))).toBe('600')
})

test('a stage that is not placed leaves nothing', async () => {
  const { path } = await folder()
  {
    await using _stage = await openStage(join(path, 'conf/dirsyncd.yaml'), '', FILES)
    expect(await readdir(path)).toHaveLength(1)
  }
  expect(await readdir(path)).toEqual([])
})

test.for(['dirsyncd.yaml', 'secrets/access-token'])(
  'where %s was written by somebody else meanwhile, that stays and all else is taken back',
  async (name) => {
    const { path } = await folder()
    const conf = join(path, 'conf')
    {
      await using stage = await openStage(join(conf, 'dirsyncd.yaml'), '', FILES)
      await mkdir(join(conf, name, '..'), { recursive: true })
      await writeFile(join(conf, name), 'of somebody else')
      await expect(stage.place()).rejects.toMatchObject({ code: 'usage' })
    }
    const left = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    )
    expect(left.map((entry) => join(entry.parentPath, entry.name))).toEqual([join(conf, name)])
    expect(await readFile(join(conf, name), 'utf8')).toBe('of somebody else')
  },
)

test('a new file gets a name that none has', async () => {
  const made = await folder()
  const { path } = made
  expect(await freePath(path, 'ldap-ca.pem')).toBe('ldap-ca.pem')
  await made.write('ldap-ca.pem', '')
  await made.write('ldap-ca-2.pem', '')
  expect(await freePath(path, 'ldap-ca.pem')).toBe('ldap-ca-3.pem')
})

test('a configuration that exists, or cannot be made, is refused', async () => {
  const made = await folder()
  const { path } = made
  const file = await made.write('dirsyncd.yaml', '')
  await expect(requireNewFile(file)).rejects.toThrow(`There is a configuration ${file} already`)
  await expect(requireNewFile(join(path, 'new/dirsyncd.yaml'))).resolves.toBeUndefined()
  await expect(requireNewFile(join(file, 'dirsyncd.yaml'))).rejects.toThrow(/cannot be written|already/)
})
