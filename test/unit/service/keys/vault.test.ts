import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import {
  createVault,
  newKeyLine,
  openVault,
  othersMay,
  type Vault,
} from '../../../../src/service/keys/vault.ts'
import { tempDir } from '../../../support/temp.ts'

const KEY = Buffer.alloc(32, 7)
const vault = createVault(new Map([['k1', KEY]]))

/** The error that opening or making a vault ends with. */
function errorOf(work: () => unknown): DirsyncdError {
  try {
    work()
  } catch (error) {
    if (error instanceof DirsyncdError) return error
    throw error
  }
  expect.unreachable('nothing was thrown')
}

describe('a sealed value', () => {
  test('opens to the same text, whatever that is', () => {
    const text = fc.string({ unit: 'binary', maxLength: 2000 })
    fc.assert(
      fc.property(text, fc.string({ unit: 'binary' }), (plain, purpose) => {
        expect(vault.open(vault.seal(plain, purpose), 'k1', purpose)).toBe(plain)
      }),
    )
  })

  test('never has the nonce of another one', () => {
    const sealed = Array.from({ length: 10_000 }, () => vault.seal('same', 'subscription:1'))
    const nonces = sealed.map((value) => Buffer.from(value, 'base64').toString('hex', 0, 12))
    expect(new Set(nonces).size).toBe(10_000)
  })

  test('does not open in the row of another one', () => {
    const sealed = vault.seal('secret', 'subscription:1')
    for (const purpose of ['subscription:2', 'subscription:11', 'identity-provider:1', '']) {
      expect(errorOf(() => vault.open(sealed, 'k1', purpose)).code).toBe('secret-unavailable')
    }
  })

  test('does not open when a single bit of it was changed', () => {
    const sealed = Buffer.from(vault.seal('secret', 'subscription:1'), 'base64')
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => vault.open(changed.toString('base64'), 'k1', 'subscription:1')).toThrow(DirsyncdError)
    }
  })

  test('does not open when it was cut off or lengthened, or is no sealed value at all', () => {
    const sealed = Buffer.from(vault.seal('secret', 'subscription:1'), 'base64')
    const cut = Array.from({ length: sealed.length }, (_, length) => sealed.subarray(0, length))
    for (const changed of [...cut, Buffer.concat([sealed, Buffer.alloc(1)]), randomBytes(100)]) {
      expect(() => vault.open(changed.toString('base64'), 'k1', 'subscription:1')).toThrow(DirsyncdError)
    }
  })

  test('does not open with other bytes under the id of its key, and the sentence shows no secret', () => {
    const other = createVault(new Map([['k1', Buffer.alloc(32, 8)]]))
    const { message } = errorOf(() =>
      other.open(vault.seal('secret', 'subscription:1'), 'k1', 'subscription:1'),
    )
    expect(message).toMatch(/^The value of subscription:1 cannot be decrypted: .*\.$/)
    expect(message).not.toContain('secret')
  })

  test('names the key that is gone', () => {
    expect(errorOf(() => vault.open(vault.seal('secret', 'a'), 'k0', 'a'))).toMatchObject({
      code: 'secret-unavailable',
      exitCode: 78,
      message:
        'A value is encrypted with the key k0, which is not in the key file; put it back below the first line.',
    })
  })
})

describe('a key file', () => {
  test('the first key seals, and the others open', async () => {
    await using file = await keyFile(newKeyLine('old'))
    const sealed = openVault(file.path).seal('secret', 'a')
    await file.write(`# made this year\r\n${newKeyLine('new').trim()}\r\n\r\n${file.text}`)
    const rotated = openVault(file.path)
    expect(rotated.keyId).toBe('new')
    expect(rotated.open(sealed, 'old', 'a')).toBe('secret')
    expect(rotated.open(rotated.seal('other', 'a'), 'new', 'a')).toBe('other')
  })

  test('is read again for a key that is not known yet, and goes on sealing with the same one', async () => {
    await using file = await keyFile(newKeyLine('old'))
    const running = openVault(file.path)
    expect(running.has('new')).toBe(false)
    await file.write(`${newKeyLine('new')}${file.text}`)
    const sealed = openVault(file.path).seal('secret', 'a')
    expect(running.open(sealed, 'new', 'a')).toBe('secret')
    expect(running.has('new')).toBe(true)
    expect(running.keyId).toBe('old')
  })

  test('whose known key has other bytes when it is read again leaves the bytes that are known', async () => {
    await using file = await keyFile(newKeyLine('old'))
    const running = openVault(file.path)
    const sealed = running.seal('secret', 'a')
    await file.write(`${newKeyLine('new')}${newKeyLine('old')}`)
    expect(running.has('new')).toBe(true)
    let opened: unknown
    try {
      opened = running.open(sealed, 'old', 'a')
    } catch (error) {
      opened = error
    }
    expect(opened).toBe('secret')
  })

  test('that is gone or broken when it is read again leaves the keys that are known', async () => {
    await using file = await keyFile(newKeyLine('old'))
    const running = openVault(file.path)
    await file.write('half a li')
    expect(errorOf(() => running.open('', 'new', 'a')).message).toContain('the key new')
    expect(running.open(running.seal('secret', 'a'), 'old', 'a')).toBe('secret')
  })

  test.each([
    ['is empty', '', /^The key file \S+ holds no key; make one with `access-service key create/],
    ['has a line without an id', `${KEY.toString('base64')}\n`, /^Line 1 of the key file \S+ is no key/],
    ['has a key of 16 bytes', `k1 ${KEY.toString('base64', 0, 16)}\n`, /^Line 1 /],
    ['has hexadecimal digits', `# one\nk1 ${KEY.toString('hex')}\n`, /^Line 2 /],
    ['has an id with a slash', `a/b ${KEY.toString('base64')}\n`, /^Line 1 /],
    [
      'has an id twice',
      `${newKeyLine('k1')}${newKeyLine('k1')}`,
      /has the key k1 twice; remove one of them\.$/,
    ],
  ])('that %s is refused with one sentence that shows no key', async (_, text, sentence) => {
    await using file = await keyFile(text)
    const error = errorOf(() => openVault(file.path))
    expect(error).toMatchObject({ code: 'secret-unavailable', exitCode: 78 })
    expect(error.message).toMatch(sentence)
    expect(error.message).not.toMatch(/[A-Za-z0-9+/]{22}/)
  })

  test('that is not there, is a directory, or may not be read is refused', async () => {
    await using dir = await tempDir()
    const missing = errorOf(() => openVault(join(dir.path, 'keys')))
    expect(missing).toMatchObject({ exitCode: 78 })
    expect(missing.message).toMatch(/^There is no key file \S+keys; make one with .*, or put back .*\.$/)
    await mkdir(join(dir.path, 'folder'))
    expect(errorOf(() => openVault(join(dir.path, 'folder'))).message).toMatch(/cannot be read \(EISDIR\)/)
    if (process.getuid?.() === 0) return
    await writeFile(join(dir.path, 'locked'), newKeyLine('k1'))
    await chmod(join(dir.path, 'locked'), 0)
    expect(errorOf(() => openVault(join(dir.path, 'locked'))).message).toMatch(/cannot be read \(EACCES\)/)
  })

  test('a vault without a key is refused', () => {
    expect(errorOf((): Vault => createVault(new Map())).exitCode).toBe(78)
  })
})

async function keyFile(text: string) {
  const dir = await tempDir()
  const path = join(dir.path, 'keys')
  const write = (content: string) => writeFile(path, content)
  await write(text)
  return { path, text, write, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() }
}

describe('a key file that users other than its owner', () => {
  test.each([0o620, 0o602, 0o666, 0o664])('may write, with mode %o, is refused', async (mode) => {
    await using dir = await tempDir()
    const path = join(dir.path, 'keys')
    await writeFile(path, newKeyLine('k1'))
    await chmod(path, mode)
    expect(errorOf(() => openVault(path))).toMatchObject({
      code: 'secret-unavailable',
      message: `Users other than its owner may write the key file ${path}, and so replace its keys: \`chmod 600 ${path}\`.`,
    })
  })

  test.each<[number, boolean]>([
    [0o600, false],
    [0o400, false],
    [0o640, true],
    [0o604, true],
  ])('may read is opened, and known: %o', async (mode, others) => {
    await using dir = await tempDir()
    const path = join(dir.path, 'keys')
    await writeFile(path, newKeyLine('k1'))
    await chmod(path, mode)
    expect(openVault(path).keyId).toBe('k1')
    expect(othersMay('read', path)).toBe(others)
  })

  test('may write is opened where it is that of the demo, whose keys are public', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'config', 'demo', 'keys.txt')
    await mkdir(join(dir.path, 'config', 'demo'), { recursive: true })
    await writeFile(path, newKeyLine('demo'))
    await chmod(path, 0o664)
    expect(openVault(path).keyId).toBe('demo')
    expect(othersMay('read', path)).toBe(false)
  })
})
