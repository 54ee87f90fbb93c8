import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { rotateKeys } from '../../src/service/admin/keys.ts'
import type { ReloadableVault } from '../../src/service/keys/key-file.ts'
import { requireKeys, rotateKey } from '../../src/service/keys/rotate-key.ts'
import { createVault, newKeyLine, type Vault } from '../../src/service/keys/vault.ts'
import { ask } from '../contract/api.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import { type Program, runCommand, startProgram } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { openServicePool, startService } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'

const SUBSCRIPTIONS = 'access_management.subscriptions'

/** So many subscriptions that they take several batches. */
const MANY = 250

const OLD = Buffer.alloc(32, 7)
const NEW = Buffer.alloc(32, 8)
const before = createVault(new Map([['old', OLD]]))
const after = createVault(
  new Map([
    ['new', NEW],
    ['old', OLD],
  ]),
)
const onlyNew = createVault(new Map([['new', NEW]]))

describe('the keys of a store', () => {
  const stack = new AsyncDisposableStack()
  let pool: Pool

  beforeAll(async () => {
    pool = stack.adopt(await openServicePool(), (opened) => opened.end())
    await (await startService({ pool, vault: before })).close()
  })

  afterAll(() => stack.disposeAsync())

  /** Everything is sealed with the old key: the subscriptions of the fixture, `MANY` more, and a private key. */
  beforeEach(async () => {
    await pool.query(`delete from ${SUBSCRIPTIONS} where id >= 1000`)
    await pool.query('delete from access_management.signing_keys')
    const { rows } = await pool.query<{ id: number }>(`select id from ${SUBSCRIPTIONS}`)
    for (const { id } of rows) await seal(before, id)
    await pool.query(
      `insert into ${SUBSCRIPTIONS}
       select (jsonb_populate_record(s, jsonb_build_object('id', n, 'contact_id', ${FIXTURE.benId}))).*
       from ${SUBSCRIPTIONS} s, generate_series(1000, ${999 + MANY}) n where s.id = ${FIXTURE.samlSubscriptionId}`,
    )
    for (let id = 1000; id < 1000 + MANY; id += 1) await seal(before, id)
    await pool.query(
      `insert into access_management.signing_keys (id, organization_id, certificate, private_key, key_id, created_at)
       values ($1, $1, 'certificate', $2, 'old', now())`,
      [FIXTURE.organizationId, before.seal('private key', `identity-provider:${FIXTURE.organizationId}`)],
    )
  })

  async function seal(vault: Vault, id: number): Promise<void> {
    const value = vault.seal(JSON.stringify({ login: 'ada', password: `value ${id}` }), `subscription:${id}`)
    await pool.query(`update ${SUBSCRIPTIONS} set credentials = $1, key_id = $2 where id = $3`, [
      value,
      vault.keyId,
      id,
    ])
  }

  async function valuesOpenedWith(vault: Vault, from = 0): Promise<string[]> {
    const { rows } = await pool.query<{ id: number; credentials: string; key_id: string }>(
      `select id, credentials, key_id from ${SUBSCRIPTIONS} where id >= $1 order by id`,
      [from],
    )
    return rows.map(({ id, credentials, key_id }) => {
      const { password } = JSON.parse(vault.open(credentials, key_id, `subscription:${id}`)) as {
        password: string
      }
      expect(password).toBe(`value ${id}`)
      return key_id
    })
  }

  test('a rotation seals everything again, so that the old key is not needed any more', async () => {
    expect(await rotateKey(pool, after)).toBe(5 + MANY + 1)
    expect(new Set(await valuesOpenedWith(onlyNew))).toEqual(new Set(['new']))
    const { rows } = await pool.query<{ private_key: string; key_id: string }>(
      'select private_key, key_id from access_management.signing_keys',
    )
    const [{ private_key: sealed, key_id: keyId }] = rows as [(typeof rows)[number]]
    expect(onlyNew.open(sealed, keyId, `identity-provider:${FIXTURE.organizationId}`)).toBe('private key')
    await requireKeys(pool, onlyNew)
    expect(await rotateKey(pool, after)).toBe(0)
  })

  test('two rotations at once seal each value once', async () => {
    const counts = await Promise.all([rotateKey(pool, after), rotateKey(pool, after)])
    expect(counts[0] + counts[1]).toBe(5 + MANY + 1)
    await valuesOpenedWith(onlyNew)
  })

  test('reads and resets go on during a rotation, and no new password is lost', async () => {
    const service = await startService({ pool, vault: after })
    const request = { token: FIXTURE.benToken, subscriptionId: 1000 + MANY - 1 }
    const resetAndRead = async () => {
      expect(await ask(service, 'resetPassword', request)).toMatchObject({ status: 200 })
      const password: unknown = expect.stringMatching(/^.{20}$/)
      expect(await ask(service, 'readCredentials', request)).toMatchObject({
        status: 200,
        body: { password },
      })
    }
    try {
      const state = { rotating: true }
      const rotate = async () => {
        await rotateKey(pool, after)
        state.rotating = false
      }
      const use = async () => {
        while (state.rotating) await resetAndRead()
      }
      await Promise.all([rotate(), use()])
      await resetAndRead()
    } finally {
      await service.close()
    }
  })

  test('a value that does not open stays as it is, is named, and stops no other', async () => {
    await pool.query(`update ${SUBSCRIPTIONS} set credentials = 'damaged' where id = 1100`)
    await pool.query(`update ${SUBSCRIPTIONS} set key_id = 'lost' where id = 1101`)
    await expect(rotateKey(pool, after)).rejects.toMatchObject({
      code: 'secret-unavailable',
      message: expect.stringMatching(
        new RegExp(
          `^${5 + MANY + 1 - 2} values were encrypted with the key new, but 2 cannot be decrypted and stay as they are; the first is that of subscription:1100: `,
        ),
      ),
    })
    const { rows } = await pool.query(
      `select id, key_id from ${SUBSCRIPTIONS} where key_id <> 'new' order by id`,
    )
    expect(rows).toEqual([
      { id: 1100, key_id: 'old' },
      { id: 1101, key_id: 'lost' },
    ])
  })

  test('a key that a service sealed with behind the walk is not called removable', async () => {
    let late: Promise<void> | undefined
    const vault: ReloadableVault = {
      ...after,
      reload: () => Promise.resolve({ keyId: 'new', keyIds: ['new', 'old'] }),
      // The private key is the last to be sealed again: the subscriptions are behind the walk.
      seal(plain, purpose) {
        if (purpose.startsWith('identity-provider')) late = seal(before, 1000)
        return after.seal(plain, purpose)
      },
    }
    // What is asked behind that sees what the service has sealed.
    const patient: Pool = Object.create(pool, {
      connect: {
        value: async () => {
          await late
          return pool.connect()
        },
      },
    })
    expect(await rotateKeys(patient, vault)).toMatchObject({ keyId: 'new', removable: [] })
    expect(await rotateKeys(pool, vault)).toMatchObject({
      sealed: 1,
      removable: ['old'],
    })
  })

  test('a key file that has every key is enough, in any order', async () => {
    await requireKeys(pool, before)
    await requireKeys(pool, after)
    expect(new Set(await valuesOpenedWith(after))).toEqual(new Set(['old']))
  })

  test('a key that is gone, or has other bytes, is a refusal with one clear sentence', async () => {
    await expect(requireKeys(pool, onlyNew)).rejects.toMatchObject({
      exitCode: 78,
      message:
        'The store holds values that are encrypted with the key old, which is not in the key file; put it back below the first line.',
    })
    await expect(requireKeys(pool, createVault(new Map([['old', NEW]])))).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(
        /^The key old of the key file does not decrypt the values that name a key of this id; /,
      ),
    })
  })

  test('a key that only the identity provider needs is missed as well', async () => {
    await rotateKey(pool, after)
    await pool.query(`update access_management.signing_keys set key_id = 'lost'`)
    await expect(requireKeys(pool, after)).rejects.toMatchObject({
      message: expect.stringContaining('the key lost'),
    })
  })

  test('a single damaged value does not keep the service from starting', async () => {
    await pool.query(`update ${SUBSCRIPTIONS} set credentials = 'damaged' where id = $1`, [
      FIXTURE.samlSubscriptionId,
    ])
    await requireKeys(pool, before)
    expect(await valuesOpenedWith(before, 1000)).toHaveLength(MANY)
  })
})

describe('access-service', () => {
  test.each([
    ['is missing', undefined, /^There is no key file \S+keys; /],
    ['is empty', '', /^The key file \S+keys holds no key; /],
    ['has a line that is no key', 'k1 secretsecret\n', /^Line 1 of the key file \S+keys is no key: /],
    ['has an id twice', newKeyLine('k1') + newKeyLine('k1'), /^The key file \S+keys has the key k1 twice; /],
  ])('does not start when the key file %s', async (_, keys, sentence) => {
    await using site = await configure(keys)
    const { code, stderr, stdout } = await runCommand(['start', '--config', site.config], {
      program: 'access-service',
    })
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\.\n$/)
    expect(stderr.replace(/^(dirsyncd|error): /i, '')).toMatch(sentence)
    expect(stderr).not.toContain('secretsecret')
  })

  test('warns of a key file that others may read, and does not start without the key of its store', async () => {
    const first = newKeyLine('first')
    await using site = await configure(first)
    await chmod(site.keys, 0o640)
    await using program: Program = startProgram(['start', '--config', site.config], {
      program: 'access-service',
    })
    await program.waitForOutput(/listens on/)
    program.kill('SIGTERM')
    expect(await program.ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('users other than its owner may read the key file'),
    })
    await site.writeKeys(newKeyLine('second'))
    expect(await runCommand(['start', '--config', site.config], { program: 'access-service' })).toMatchObject(
      {
        code: 78,
        stderr: expect.stringContaining(
          'encrypted with the key first, which is not in the key file; put it back',
        ),
      },
    )
  })
})

async function configure(keys: string | undefined) {
  const dir = await tempDir()
  const keyFile = join(dir.path, 'keys')
  const writeKeys = (text: string) => writeFile(keyFile, text)
  if (keys !== undefined) await writeKeys(keys)
  await writeFile(join(dir.path, 'fixture.yaml'), FIXTURE_YAML)
  const config = join(dir.path, 'service.yaml')
  const listen = `127.0.0.1:${await freePort()}`
  const store = await createDatabase(SERVICE_TEMPLATE)
  const service = { listen, store, keyFile: './keys', fixture: './fixture.yaml' }
  await writeFile(config, stringify({ dataDir: './data', service }))
  return { config, keys: keyFile, writeKeys, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() }
}
