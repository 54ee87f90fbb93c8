import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig, readRawConfig, type Config } from '../../../../src/config/load.ts'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { eventually } from '../../../support/eventually.ts'
import { createFolder, type Folder } from '../../config/folder.ts'

/** A user and a group that the test is not run by. */
const OTHER = 4242
/** Only root can give files away. */
const isRoot = process.geteuid?.() === 0

const CSV = '{ type: csv, users: { path: users.csv, map: { external_id: id } } }'
const configOf = ({ source = CSV, token = '{ env: TOKEN }' } = {}) =>
  `syncs:
  - name: corp
    source: ${source}
    directory: { baseUrl: https://access.example.com, organizationId: 1, directoryId: 7, token: ${token} }
`

let folder: Folder

beforeEach(async () => {
  folder = await createFolder()
  mkdirSync(at('etc'), { mode: 0o755 })
  writeFileSync(at('etc/dirsyncd.yaml'), configOf(), { mode: 0o644 })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await folder[Symbol.asyncDispose]()
})

const at = (path: string) => join(folder.path, path)
const searched = (file = 'etc/dirsyncd.yaml', env = {}) => loadConfig({ env, usualFiles: [at(file)] })
const named = (file = 'etc/dirsyncd.yaml', env = {}) => loadConfig({ env, file: at(file) })

/** The sentence of the refusal, without the folder. */
async function refusal(loading: Promise<unknown>): Promise<string> {
  const error = await loading.catch((thrown: unknown) => thrown)
  if (!(error instanceof DirsyncdError)) return expect.fail(`no refusal: ${String(error)}`)
  expect(error).toMatchObject({ code: 'config-invalid', exitCode: 78 })
  return error.message.replaceAll(`${folder.path}/`, '')
}

test('a configuration that every user may write is refused, also where it is named', async () => {
  chmodSync(at('etc/dirsyncd.yaml'), 0o666)
  const sentence =
    'The configuration file etc/dirsyncd.yaml must not be used: every user may write etc/dirsyncd.yaml; run chmod o-w etc/dirsyncd.yaml.'
  expect(await refusal(named())).toBe(sentence)
  expect(await refusal(searched())).toBe(sentence)
  expect(await refusal(loadConfig({ env: { DIRSYNCD_CONFIG: at('etc/dirsyncd.yaml') } }))).toBe(sentence)
  // What a bundle shows comes from the same file.
  expect(await refusal(readRawConfig({ env: {}, file: at('etc/dirsyncd.yaml') }))).toBe(sentence)
})

test.runIf(isRoot).each<[string, () => void, string]>([
  [
    'another user owns it',
    () => chownSync(at('etc/dirsyncd.yaml'), OTHER, 0),
    `user ${OTHER} owns etc/dirsyncd.yaml, not root or the user of this command; run the command as that user`,
  ],
  [
    'a group may write it',
    () => {
      chownSync(at('etc/dirsyncd.yaml'), 0, OTHER)
      chmodSync(at('etc/dirsyncd.yaml'), 0o664)
    },
    'others may write etc/dirsyncd.yaml; run chmod go-w etc/dirsyncd.yaml',
  ],
  [
    'another user owns its folder',
    () => chownSync(at('etc'), OTHER, 0),
    `user ${OTHER} owns etc, not root or the user of this command; run the command as that user`,
  ],
  [
    'a group may replace what is in its folder',
    () => {
      chownSync(at('etc'), 0, OTHER)
      chmodSync(at('etc'), 0o775)
    },
    'others may write etc; run chmod go-w etc',
  ],
  [
    // An access control list shows its mask, the most that it allows to anybody, in the place of the group's rights.
    "root's own group, and so perhaps somebody whom an access control list names, may write it",
    () => chmodSync(at('etc/dirsyncd.yaml'), 0o664),
    'others may write etc/dirsyncd.yaml; run chmod go-w etc/dirsyncd.yaml',
  ],
])('where it was searched for it is refused if %s, and used where it is named', async (_how, change, why) => {
  change()
  expect(await refusal(searched())).toBe(`The configuration file etc/dirsyncd.yaml must not be used: ${why}.`)
  expect(await named()).toMatchObject({ file: at('etc/dirsyncd.yaml') })
})

test('where every user may replace what is above it, a file that was searched for is refused', async () => {
  mkdirSync(at('shared/etc'), { recursive: true })
  writeFileSync(at('shared/etc/dirsyncd.yaml'), configOf())
  chmodSync(at('shared'), 0o777)
  const why = 'every user may write shared, and so replace what is in it; run chmod o-w shared'
  expect(await refusal(searched('shared/etc/dirsyncd.yaml'))).toBe(
    `The configuration file shared/etc/dirsyncd.yaml must not be used: ${why}.`,
  )
  expect(await named('shared/etc/dirsyncd.yaml')).toMatchObject({ syncs: [{ name: 'corp' }] })
})

test('where every user may replace it, a file is refused, also where it is named; a sticky bit protects it', async () => {
  symlinkSync('etc/dirsyncd.yaml', at('link.yaml'))
  chmodSync(at('etc'), 0o777)
  const why = 'every user may write etc, and so replace what is in it; run chmod o-w etc'
  const sentence = `The configuration file etc/dirsyncd.yaml must not be used: ${why}.`
  expect(await refusal(searched())).toBe(sentence)
  expect(await refusal(named())).toBe(sentence)
  expect(await refusal(named('link.yaml'))).toContain(why)
  chmodSync(at('etc'), 0o1777)
  for (const find of [searched, named]) expect(await find()).toMatchObject({ syncs: [{ name: 'corp' }] })
})

test.runIf(isRoot)('a private group of the owner may write, as where umask 002 is usual', async () => {
  for (const path of ['etc', 'etc/dirsyncd.yaml']) chownSync(at(path), OTHER, OTHER)
  chmodSync(at('etc'), 0o775)
  chmodSync(at('etc/dirsyncd.yaml'), 0o664)
  vi.spyOn(process, 'geteuid').mockReturnValue(OTHER)
  expect(await searched()).toMatchObject({ syncs: [{ name: 'corp' }] })
  chownSync(at('etc'), OTHER, OTHER + 1)
  expect(await refusal(searched())).toContain('others may write etc;')
})

test.runIf(isRoot)('a link counts as what it leads to, and whoever owns the link decides, too', async () => {
  mkdirSync(at('home'))
  writeFileSync(at('home/real.yaml'), configOf())
  symlinkSync('../home/real.yaml', at('etc/link.yaml'))
  expect(await searched('etc/link.yaml')).toMatchObject({ syncs: [{ name: 'corp' }] })
  chownSync(at('home'), OTHER, 0)
  expect(await refusal(searched('etc/link.yaml'))).toContain(`user ${OTHER} owns home,`)
  expect(await named('etc/link.yaml')).toMatchObject({ file: at('etc/link.yaml') })
})

/** Writes a program that prints a token. */
function writeProgram(path: string, mode = 0o755): string {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), '#!/bin/sh\necho secret\n')
  chmodSync(at(path), mode)
  return at(path)
}

const users = 'users: { map: { external_id: id } }'
const writeConfig = (options: { source?: string; token?: string }) =>
  writeFileSync(at('etc/dirsyncd.yaml'), configOf(options))

test('a program that every user may write is refused with its option and its place', async () => {
  writeProgram('bin/print', 0o777)
  writeConfig({ source: `{ type: command, command: [../bin/print, --all], ${users} }` })
  const why = 'the program must not be run: every user may write bin/print; run chmod o-w bin/print'
  expect(await refusal(named())).toBe(`etc/dirsyncd.yaml:3:30: syncs[0].source.command: ${why}`)
  writeConfig({ token: '{ command: [../bin/print] }' })
  expect(await refusal(named())).toBe(`etc/dirsyncd.yaml:4:90: syncs[0].directory.token: ${why}`)
  // A name is looked up as the system does it.
  writeConfig({ token: '{ command: [print] }' })
  writeProgram('first/print', 0o644)
  const PATH = `${at('none')}:${at('first')}:${at('bin')}`
  expect(await refusal(named(undefined, { PATH }))).toContain(`syncs[0].directory.token: ${why}`)
  chmodSync(at('bin/print'), 0o755)
  expect(await named(undefined, { PATH })).toMatchObject({ syncs: [{ name: 'corp' }] })
})

test.runIf(isRoot)('a searched configuration runs only what nobody else can change', async () => {
  chownSync(writeProgram('bin/print'), OTHER, 0)
  writeConfig({ token: '{ command: [../bin/print] }' })
  expect(await refusal(searched())).toContain(
    `syncs[0].directory.token: the program must not be run: user ${OTHER} owns bin/print,`,
  )
  expect(await tokenOf(await named())).toBe('secret')
})

const tokenOf = ({ syncs: [sync] }: Config) => sync!.directory.token.read(true)

/** Why a program is refused that every user may write. */
const openToAll = (name: string) =>
  `the program must not be run: every user may write ${at(name)}; run chmod o-w ${at(name)}`

test('a program that came, or was opened to every user, after the start is refused too', async () => {
  writeConfig({
    token: '{ command: [../bin/token] }',
    source: `{ type: command, command: [../bin/print], ${users} }`,
  })
  const config = await named()
  writeProgram('bin/token', 0o777)
  await expect(tokenOf(config)).rejects.toThrow(
    `The secret of syncs[0].directory.token cannot be read: ${openToAll('bin/token')}.`,
  )
  writeProgram('bin/print', 0o777)
  const { source } = config.syncs[0]!
  expect(() => source.type === 'command' && source.options.environment()).toThrow(
    `syncs[0].source.command: ${openToAll('bin/print')}.`,
  )
  writeProgram('bin/print')
  chmodSync(at('bin'), 0o777)
  expect(() => source.type === 'command' && source.options.environment()).toThrow(
    `every user may write ${at('bin')}, and so replace what is in it; run chmod o-w ${at('bin')}.`,
  )
})

test('a pipe that a shell has opened is read where it is named', async () => {
  const reader = spawn('bash', ['-c', `exec sleep 60 < <(cat ${at('etc/dirsyncd.yaml')})`])
  onTestFinished(() => void reader.kill())
  const input = `/proc/${reader.pid}/fd/0`
  await eventually(() => expect(readlinkSync(input)).toMatch(/^pipe:/))
  expect(await loadConfig({ env: {}, file: input })).toMatchObject({ syncs: [{ name: 'corp' }] })
})
