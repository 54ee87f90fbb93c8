import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { DirsyncdError, sentence } from '../errors.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
/** The nonce that GCM is made for; random, so that one key is good for billions of values. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts what must not be readable in a stolen copy of the database. */
export interface Vault {
  /** The key that `seal` uses; what was sealed with another one should be sealed again. */
  readonly keyId: string
  /** `purpose` is bound to the value: it opens for the same purpose only, so that no row's value works in another. */
  seal(plain: string, purpose: string): string
  /** Throws a `DirsyncdError` (`secret-unavailable`) where the key is gone or the value was changed. */
  open(sealed: string, keyId: string, purpose: string): string
}

/** A new key as a line of a key file, such as `k20260131 3q2+…`. */
export function newKeyLine(id: string): string {
  return `${id} ${randomBytes(KEY_BYTES).toString('base64')}\n`
}

/**
 * Reads a key file: one key per line, its id and 32 bytes in base64. The first one seals; the others only open, until
 * everything is sealed with the first. Throws `DirsyncdError('secret-unavailable')`.
 */
export async function openVault(path: string): Promise<Vault> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unusable(`The key file ${path} of the service cannot be read: ${sentence(cause)}.`, path, cause)
  })
  return createVault(parseKeys(text, path))
}

/** The keys by id, the current one first. */
export function createVault(keys: ReadonlyMap<string, Buffer>): Vault {
  const [keyId] = keys.keys()
  if (keyId === undefined) throw new DirsyncdError('secret-unavailable', 'There is no key to encrypt with.')
  return {
    keyId,
    seal: (plain, purpose) => seal(plain, keys.get(keyId)!, purpose),
    open(sealed, id, purpose) {
      const key = keys.get(id)
      if (key === undefined) {
        const what = `A value is encrypted with the key ${id}, which is not in the key file; put it back behind the first line.`
        throw new DirsyncdError('secret-unavailable', what)
      }
      return open(sealed, key, purpose)
    },
  }
}

function parseKeys(text: string, path: string): Map<string, Buffer> {
  const keys = new Map<string, Buffer>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, id, encoded] = /^([\w.-]{1,64})\s+([A-Za-z0-9+/]{43}=)\s*$/.exec(line) ?? []
    if (id === undefined || encoded === undefined) {
      throw unusable(`Line ${index + 1} of the key file ${path} is not "<id> <32 bytes in base64>".`, path)
    }
    if (keys.has(id)) throw unusable(`The key file ${path} has the key ${id} twice.`, path)
    keys.set(id, Buffer.from(encoded, 'base64'))
  }
  if (keys.size === 0) throw unusable(`The key file ${path} holds no key.`, path)
  return keys
}

function unusable(what: string, path: string, cause?: unknown): DirsyncdError {
  const help = `Make one with \`dirsyncd service key create ${path}\`.`
  return new DirsyncdError('secret-unavailable', `${what} ${help}`, { cause })
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
    const what = `The encrypted value of ${purpose} cannot be opened: it was changed, or another key has the id of its key.`
    throw new DirsyncdError('secret-unavailable', what, { cause })
  }
}
