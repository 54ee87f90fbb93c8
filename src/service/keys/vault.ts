import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { DirsyncdError, sentence, systemCode } from '../../base/errors.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
/** Of GCM; random nonces of this length let one key encrypt billions of values. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts values that a stolen copy of the database must not reveal. */
export interface Vault {
  readonly keyId: string
  /** The keys that `open` knows, the current one first. */
  readonly keyIds: readonly string[]
  has(keyId: string): boolean
  /** The value opens only for the same `purpose`, so that the value of one row cannot be used in another. */
  seal(plain: string, purpose: string): string
  /** Throws a `DirsyncdError` (`secret-unavailable`) where the key is missing or the value was changed. */
  open(sealed: string, keyId: string, purpose: string): string
}

/** By id, the current one first. */
export type Keys = ReadonlyMap<string, Buffer>

/** A line of a key file, such as `k20260131 3q2+…`. */
export function newKeyLine(id: string): string {
  return `${id} ${randomBytes(KEY_BYTES).toString('base64')}\n`
}

/**
 * One key per line: its id and 32 bytes in base64. The first key encrypts; the others only decrypt. When a value needs
 * an unknown key, the file is read again, so that keys can be added and rotated while services run. Throws
 * `DirsyncdError('secret-unavailable')`.
 */
export function openVault(path: string): Vault {
  return createVault(readKeys(path), () => readKeys(path))
}

/** `readAgain` reads the keys again and may throw; a new key only decrypts. */
export function createVault(keys: Keys, readAgain: () => Keys = () => keys): Vault {
  const known = new Map(keys)
  const [keyId] = known.keys()
  if (keyId === undefined) throw new DirsyncdError('secret-unavailable', 'There is no key to encrypt with.')
  const current = known.get(keyId)!
  const find = (id: string) => {
    if (!known.has(id)) addMissing(known, readAgain)
    return known.get(id)
  }
  return {
    keyId,
    get keyIds() {
      return [...known.keys()]
    },
    has: (id) => find(id) !== undefined,
    seal: (plain, purpose) => seal(plain, current, purpose),
    open(sealed, id, purpose) {
      const key = find(id)
      if (key !== undefined) return open(sealed, key, purpose)
      const what = `A value is encrypted with the key ${id}, which is not in the key file; put it back below the first line.`
      throw new DirsyncdError('secret-unavailable', what)
    },
  }
}

/** Keeps the known keys, so that editing the file does not stop a running service. */
function addMissing(known: Map<string, Buffer>, readAgain: () => Keys): void {
  try {
    for (const [id, key] of readAgain()) if (!known.has(id)) known.set(id, key)
  } catch {
    // The caller reports the missing key; the next start reports what is wrong with the file.
  }
}

/** Synchronous, because `open` is; the file is small and rarely read. */
function readKeys(path: string): Keys {
  const text = readKeyFile(path)
  if (othersMay('write', path)) {
    throw unusable(
      `Users other than its owner may write the key file ${path}, and so replace its keys: \`chmod 600 ${path}\`.`,
    )
  }
  return parseKeys(text, path)
}

/** The demo's keys are public, and Git checks them out with the mode of the umask. */
const DEMO = /(^|\/)config\/demo\//

export function othersMay(what: 'read' | 'write', path: string): boolean {
  const mode = what === 'read' ? 0o044 : 0o022
  return !DEMO.test(path) && (statSync(path).mode & mode) !== 0
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const make = `make one with \`access-service key create ${path}\``
    const what =
      systemCode(cause) === 'ENOENT'
        ? `There is no key file ${path}; ${make}, or put back the one that the store was encrypted with.`
        : `The key file ${path} cannot be read (${systemCode(cause) ?? sentence(cause)}); it must be a file that the user of the service may read.`
    throw new DirsyncdError('secret-unavailable', what, { cause })
  }
}

/** No message shows a line: it may be a key. */
function parseKeys(text: string, path: string): Keys {
  const keys = new Map<string, Buffer>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, id, encoded] = /^([\w.-]{1,64})[ \t]+([A-Za-z0-9+/]{43}=)[ \t]*$/.exec(line) ?? []
    if (id === undefined || encoded === undefined) {
      const form = 'must be the id of a key, a blank and its 32 bytes in base64'
      throw unusable(`Line ${index + 1} of the key file ${path} is no key: it ${form}.`)
    }
    if (keys.has(id)) throw unusable(`The key file ${path} has the key ${id} twice; remove one of them.`)
    keys.set(id, Buffer.from(encoded, 'base64'))
  }
  if (keys.size > 0) return keys
  throw unusable(`The key file ${path} holds no key; make one with \`access-service key create ${path}\`.`)
}

function unusable(what: string): DirsyncdError {
  return new DirsyncdError('secret-unavailable', what)
}

function seal(plain: string, key: Buffer, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(purpose))
  return Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
}

function open(sealed: string, key: Buffer, purpose: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(purpose))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch (cause) {
    const what = `The value of ${purpose} cannot be decrypted: it was changed, or another key has the id of its key.`
    throw new DirsyncdError('secret-unavailable', what, { cause })
  }
}
