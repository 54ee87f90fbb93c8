import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import type { Program } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type Site } from '../support/site.ts'

export interface AdminSite extends Site {
  readonly baseUrl: string
  /** Starts the service, and resolves when it listens. */
  serve(): Promise<Program>
}

/** A folder with a key file and the configuration of a service, with the fixture of the tests or empty. */
export async function openAdminSite(
  stack: AsyncDisposableStack,
  options: { readonly store?: string; readonly fixture?: boolean } = {},
): Promise<AdminSite> {
  const site = stack.use(await openSite({ program: 'access-service' }))
  const port = await freePort()
  await site.write('keys', newKeyLine('k1'))
  await site.write('fixture.yaml', FIXTURE_YAML)
  const { store = await createDatabase(SERVICE_TEMPLATE), fixture = true } = options
  if (store === 'embedded') await putEmptyStore(join(site.dataDir, 'service'))
  await site.configure({
    dataDir: './data',
    service: {
      listen: `127.0.0.1:${port}`,
      keyFile: './keys',
      store,
      ...(fixture && { fixture: './fixture.yaml' }),
    },
  })
  return {
    ...site,
    baseUrl: `http://127.0.0.1:${port}`,
    async serve() {
      const program = stack.use(site.start('start'))
      await program.waitForOutput(/listens on/)
      return program
    },
  }
}

export async function ask(site: AdminSite, token: string, path: string, method = 'GET') {
  const answer = await fetch(`${site.baseUrl}/api/v2/organizations/${path}`, {
    method,
    headers: { authorization: `token ${token}`, 'x-device-id': 'test' },
  })
  return { status: answer.status, body: (await answer.json()) as any }
}

export async function one(site: Site, ...args: readonly string[]): Promise<any> {
  const { code, lines, stderr } = await site.json(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return lines[0]
}

/** @param running whether the service runs while the commands create what it needs, or only afterwards */
export async function beginEmptyService(store: string, running: boolean): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack, { store, fixture: false })
  if (running) await site.serve()
  const organization = await one(site, 'organization', 'create', '--name', 'Labs', '--domain', 'Labs.Example')
  expect(organization).toMatchObject({ id: 1, name: 'Labs', allowedDomains: ['labs.example'] })
  const person = ['--name', 'Ada', '--email', 'ada@labs.example']
  const contact = await one(site, 'contact', 'create', '--organization', '1', ...person)
  const directory = await one(site, 'directory', 'create', '--organization', '1', '--name', 'People')
  expect([contact.id, directory]).toMatchObject([1, { id: 1, target_type: 'ldap', users: 0 }])
  const scopes = ['--scope', 'ORG_READ', '--scope', 'ORG', '--expires', '30d']
  const token = await one(site, 'token', 'create', '--contact', '1', ...scopes)
  expect(token.token).toMatch(/^am_[\w-]{43}$/)
  if (!running) await site.serve()

  expect(await ask(site, token.token, '1/admin/directories')).toMatchObject({
    status: 200,
    body: [{ id: 1, name: 'People', target_type: 'ldap', doppler: false }],
  })
  const listed = await site.json('token', 'list')
  expect(listed.lines).toMatchObject([
    { id: token.id, contactId: 1, scopes: ['ORG_READ', 'ORG'], expired: false },
  ])
  expect(JSON.stringify(listed.lines)).not.toContain(token.token)
  await one(site, 'token', 'revoke', token.id)
  expect((await ask(site, token.token, '1/admin/directories')).status).toBe(401)
}

export async function rotateKeysOfService(store: string): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack, { store })
  const first = await site.serve()
  const created = await site.json('key', 'create', join(site.dir, 'keys'))
  const { keyId, olderKeyIds } = created.lines[0]
  expect(olderKeyIds).toEqual(['k1'])
  const rotation = await one(site, 'key', 'rotate')
  expect(rotation).toEqual({ keyId, sealed: 5, removable: ['k1'] })
  expect(await one(site, 'key', 'rotate')).toMatchObject({ sealed: 0 })

  const credentials = async () => {
    const path = `1/subscriptions/${FIXTURE.samlSubscriptionId}`
    return (await ask(site, FIXTURE.userToken, `${path}/credentials`, 'POST')).body.password
  }
  expect(await credentials()).toBe(FIXTURE.secrets[0])
  // What the process seals from now on needs the old key no more.
  const reset = `1/subscriptions/${FIXTURE.samlSubscriptionId}/password/reset`
  expect((await ask(site, FIXTURE.userToken, reset, 'POST')).status).toBe(200)
  const password = await credentials()

  // A broken key file rotates nothing, and the service goes on with the keys that it has.
  const keys = await readFile(join(site.dir, 'keys'), 'utf8')
  for (const [wrong, sentence] of [
    ['k2 nonsense\n', /^Line 1 of the key file .* is no key/],
    [newKeyLine(keyId), /does not decrypt/],
  ] as const) {
    await site.write('keys', wrong)
    const { code, stderr } = await site.run('key', 'rotate')
    expect([code, stderr]).toEqual([78, expect.stringMatching(sentence)])
    expect(await credentials()).toBe(password)
  }
  first.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)

  const [newest = ''] = keys.split('\n')
  await site.write('keys', `${newest}\n`)
  // A value that needs another key would be named.
  expect(await one(site, 'key', 'rotate')).toMatchObject({ keyId, sealed: 0 })
}
