import { chmod, readdir, rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSecretReader, type SecretContext } from '../../../../src/base/secrets/secret.ts'
import { secret as secretSchema, type SecretSource } from '../../../../src/base/yaml/values.ts'
import { createFolder } from '../../config/folder.ts'

const OPTION = 'syncs[0].directory.token'

function reader(source: SecretSource, context: Partial<SecretContext> = {}) {
  return createSecretReader(source, { env: {}, folder: '/', option: OPTION, ...context })
}

test('a secret from the environment', async () => {
  const secret = reader({ env: 'TOKEN' }, { env: { TOKEN: 'abc\n' } })
  expect(await secret.read()).toBe('abc')
  expect(secret.describe()).toBe('env TOKEN')
})

test.each([
  ['not set', {}, 'the environment variable TOKEN is not set'],
  ['empty', { TOKEN: '\n' }, 'the environment variable TOKEN is empty'],
])('an environment variable that is %s', async (_, env, why) => {
  await expect(reader({ env: 'TOKEN' }, { env }).read()).rejects.toMatchObject({
    code: 'secret-unavailable',
    exitCode: 78,
    message: `The secret of ${OPTION} cannot be read: ${why}.`,
  })
})

/** As it is after `--token-env "$(cat token)"`: a name of a variable by its letters, or not. */
const TOKENS = ['am_63LwvhUq8yZpXcVbNmKjHgFdSaQwErTy', 'am_63Lwv-Uq8yZpXcVbNmKjHgFdSaQwErTy', 'Hunter2']

test.each(TOKENS)(
  'a token that stands where its variable or its file is named is not repeated: %s',
  async (token) => {
    const refused = secretSchema.safeParse({ env: token }).error?.issues.map(({ message }) => message)
    expect(refused).toEqual(
      token.includes('-')
        ? ['must be the name of an environment variable, not the secret itself']
        : undefined,
    )
    const why = 'it takes the place of the secret, not the secret itself, and there is no'
    const sentenceOf = (what: string) =>
      `The secret of ${OPTION} cannot be read: ${why} ${what} of the name given.`
    const variable = reader({ env: token })
    await expect(variable.read()).rejects.toThrow(sentenceOf('environment variable'))
    expect(variable.describe()).toBe('env')
    await using folder = await createFolder()
    const file = reader({ file: token }, { folder: folder.path })
    await expect(file.read()).rejects.toThrow(sentenceOf('file'))
    await expect(reader({ file: `./${token}` }, { folder: folder.path }).read()).rejects.toThrow(
      `the file ${join(folder.path, token)} does not exist.`,
    )
  },
)

test.each(['1TOKEN', 'A B', 'A=B', 'X'.repeat(101), ''])('%j is no name of a variable', (env) => {
  expect(secretSchema.safeParse({ env }).success).toBe(false)
})

test('a file loses the line breaks at its end and keeps its blanks', async () => {
  await using folder = await createFolder()
  await folder.write('token', ' a b \r\n\n')
  expect(await reader({ file: 'token' }, { folder: folder.path }).read()).toBe(' a b ')
})

test('a file is read again when it has changed, and only then', async () => {
  await using folder = await createFolder()
  const path = await folder.write('token', 'first')
  const secret = reader({ file: 'token' }, { folder: folder.path })
  expect(await secret.read()).toBe('first')
  await folder.write('token', 'second one')
  expect(await secret.read()).toBe('second one')
  await utimes(path, 1, 1)
  expect(await secret.read()).toBe('second one')
})

test('another file of the same size and time in its place is noticed', async () => {
  await using folder = await createFolder()
  const path = await folder.write('token', 'first')
  await utimes(path, 1, 1)
  const secret = reader({ file: path })
  expect(await secret.read()).toBe('first')
  const other = await folder.write('other', 'other')
  await utimes(other, 1, 1)
  await rename(other, path)
  expect(await secret.read()).toBe('other')
})

test('a file that is missing, empty, a folder or far too large', async () => {
  await using folder = await createFolder()
  await folder.write('empty', '\n')
  await folder.write('large', 'x'.repeat(70_000))
  const read = (file: string) => reader({ file }, { folder: folder.path }).read()
  await expect(read('./missing')).rejects.toThrow(`the file ${join(folder.path, 'missing')} does not exist.`)
  await expect(read('empty')).rejects.toThrow(`the file ${join(folder.path, 'empty')} is empty.`)
  await expect(read('.')).rejects.toThrow(`the file ${folder.path} is a folder.`)
  await expect(read('large')).rejects.toThrow('is larger than 64 KiB.')
})

test('a credential is what systemd handed to the unit, and is read again when it changes', async () => {
  await using folder = await createFolder()
  await folder.write('token', 'abc\n')
  const secret = reader({ credential: 'token' }, { env: { CREDENTIALS_DIRECTORY: folder.path } })
  expect(await secret.read()).toBe('abc')
  expect(secret.describe()).toBe('credential token')
  await folder.write('token', 'another')
  expect(await secret.read()).toBe('another')
  const other = reader({ credential: 'other' }, { env: { CREDENTIALS_DIRECTORY: folder.path } })
  const path = join(folder.path, 'other')
  await expect(other.read()).rejects.toThrow(
    `The secret of ${OPTION} cannot be read: the file ${path}, which systemd makes by LoadCredential=other, does not exist.`,
  )
})

test('a credential outside of a unit is where systemd looks for it', async () => {
  const secret = reader({ credential: 'no-such-dirsyncd' })
  await expect(secret.read()).rejects.toThrow(
    `The secret of ${OPTION} cannot be read: CREDENTIALS_DIRECTORY is not set, and the file ` +
      '/etc/credstore/no-such-dirsyncd ',
  )
})

test.each(['../token', '/etc/passwd', '..', 'a/b', ''])('%j is no name of a credential', (credential) => {
  const { error } = secretSchema.safeParse({ credential })
  expect(error?.issues.map(({ message }) => message)).toEqual([
    'must be the plain name of a file, such as ldap-password',
  ])
})

test('a command runs without a shell, in the folder, with the environment it was given', async () => {
  await using folder = await createFolder()
  const script = await folder.write('print', '#!/bin/sh\nprintf "%s|%s|%s\\n" "$1" "$A" "$(pwd)"\n')
  await chmod(script, 0o700)
  const secret = reader({ command: ['./print', '$HOME; ls'] }, { folder: folder.path, env: { A: 'b' } })
  expect(await secret.read()).toBe(`$HOME; ls|b|${folder.path}`)
  expect(secret.describe()).toBe('command print')
})

test("a command's answer is kept until a fresh one is asked for", async () => {
  await using folder = await createFolder()
  const command = ['/bin/sh', '-c', 'echo x >> count; wc -l < count']
  const secret = reader({ command }, { folder: folder.path, env: { PATH: '/usr/bin:/bin' } })
  expect(await Promise.all([secret.read(), secret.read()])).toEqual(['1', '1'])
  expect(await secret.read(true)).toBe('2')
  expect(await secret.read()).toBe('2')
})

// After exit code 1 systemd starts a daemon again, and not after 78.
test.each([
  ['fails', ['/bin/sh', '-c', 'echo hunter2; echo hunter2 >&2; exit 3'], 1, 'ended with exit code 3'],
  ['prints nothing', ['/bin/true'], 78, 'the answer of the command /bin/true is empty'],
  ['does not exist', ['/no/such/program'], 78, 'the command /no/such/program was not found'],
  ['does not end', ['/bin/sleep', '60'], 1, 'gave no answer within 0.2 s'],
  ['never stops printing', ['/usr/bin/yes', 'hunter2'], 1, 'printed more than 64 KiB'],
])('a command that %s', async (_, command, exitCode, why) => {
  const asked = reader({ command }, { timeoutMs: command[0] === '/bin/sleep' ? 200 : 5000 }).read()
  const error = await asked.catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'secret-unavailable', exitCode, message: expect.stringContaining(why) })
  expect(String(error)).not.toContain('hunter2')
})

test('a command that leaves a program behind has answered all the same', async () => {
  await using folder = await createFolder()
  const command = ['/bin/sh', '-c', '(sleep 5; touch ended) & echo answer']
  const secret = reader({ command }, { folder: folder.path, env: { PATH: '/usr/bin:/bin' } })
  expect(await secret.read()).toBe('answer')
  expect(await readdir(folder.path)).toEqual([])
})

test('a command that failed is asked again', async () => {
  await using folder = await createFolder()
  const command = ['/bin/sh', '-c', 'test -e there || { touch there; exit 1; }; echo now']
  const secret = reader({ command }, { folder: folder.path, env: { PATH: '/usr/bin:/bin' } })
  await expect(secret.read()).rejects.toThrow('ended with exit code 1')
  expect(await secret.read()).toBe('now')
})
