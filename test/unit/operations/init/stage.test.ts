import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  dataDirProblem,
  freePath,
  openStage,
  requireNewFile,
  usualDataDir,
} from '../../../../src/operations/init/stage.ts'
import { acquireDataDir } from '../../../../src/base/database/owner.ts'
import { processName } from '../../../../src/base/database/process-name.ts'
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

test('of two at once one writes its configuration, and the other is told so', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { path } = await folder()
    const file = join(path, 'new', 'conf', 'dirsyncd.yaml')
    await using one = await openStage(file, 'one', FILES)
    await using other = await openStage(file, 'other', FILES)
    const ends = await Promise.allSettled([one.place(), other.place()])
    const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    expect(lost.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^Somebody has just written \S+, such as another dirsyncd init, and dirsyncd init overwrites no file; name/,
      ),
    ])
    expect(await readFile(file, 'utf8')).toBe(ends[0].status === 'fulfilled' ? 'one' : 'other')
    expect(await readdir(join(path, 'new', 'conf'))).toEqual(['dirsyncd.yaml', 'ldap-ca.pem', 'secrets'])
  }
})

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
  await expect(requireNewFile(file)).rejects.toThrow(`There is a file ${file} already`)
  await expect(requireNewFile(join(path, 'new/dirsyncd.yaml'))).resolves.toBeUndefined()
  await expect(requireNewFile(join(file, 'dirsyncd.yaml'))).rejects.toThrow(
    `cannot be written into ${file}: it is a file and no folder;`,
  )
  await symlink(join(path, 'nowhere'), join(path, 'link.yaml'))
  await mkdir(join(path, 'shared'))
  await chmod(join(path, 'shared'), 0o777)
  await expect(requireNewFile(join(path, 'shared/dirsyncd.yaml'))).rejects.toThrow(
    `A configuration in ${join(path, 'shared')} would not be used: every user may write`,
  )
  await expect(requireNewFile(join(path, 'link.yaml'))).rejects.toThrow(/There is a file \S+ already/)
})

test('what a process that was killed has left, its secrets too, is removed by the next one', async () => {
  const { path } = await folder()
  const file = join(path, 'dirsyncd.yaml')
  const stage = (name: string) => join(path, `.dirsyncd-init-${name}`)
  const own = processName()
  for (const [name, owner] of [
    ['alive', own],
    ['killed', own.replace(`:${process.pid}:`, ':4999999:')],
    ['of-nobody', undefined],
  ] as const) {
    await mkdir(join(stage(name), 'secrets'), { recursive: true })
    await writeFile(join(stage(name), 'secrets/access-token'), 'secret\n')
    if (owner !== undefined) await writeFile(join(stage(name), 'owner'), owner)
  }
  await requireNewFile(file)
  expect(await readdir(path)).toEqual(
    expect.arrayContaining(['.dirsyncd-init-alive', '.dirsyncd-init-of-nobody']),
  )
  expect(await readdir(path)).not.toContain('.dirsyncd-init-killed')
})

test('the data of another configuration are not taken for those of a new one', async () => {
  const { path } = await folder()
  expect(dataDirProblem(join(path, 'data'))).toBeUndefined()
  {
    await using _owner = await acquireDataDir(join(path, 'data'))
  }
  expect(dataDirProblem(join(path, 'data'))).toMatch(/the data of another configuration/)
  expect(dataDirProblem('/etc')).toMatch(/a new or an empty folder/)
  expect(await usualDataDir(join(path, 'dirsyncd.yaml'))).not.toBe(join(path, 'data'))
})
