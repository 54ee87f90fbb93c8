import { existsSync } from 'node:fs'
import { readFile, rename, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { freePort } from '../support/server-process.ts'
import { openSite } from '../support/site.ts'
import { eventually } from '../support/eventually.ts'

/** A process with the service in it, and how to ask it for `/api/v2/NAME`, which makes a line in its log of requests. */
async function startProcess(stack: AsyncDisposableStack) {
  const site = stack.use(await openSite({ program: 'access-service' }))
  const port = await freePort()
  await site.write('keys', newKeyLine('k1'))
  const path = join(site.dir, 'requests.jsonl')
  await site.configure({
    dataDir: './data',
    service: {
      listen: `127.0.0.1:${port}`,
      store: await createDatabase(SERVICE_TEMPLATE),
      keyFile: './keys',
      requestLog: './requests.jsonl',
    },
  })
  const start = async () => {
    const program = stack.use(site.start('start'))
    await program.waitForOutput(/service listens on/)
    return program
  }
  const ask = async (name: string) => (await fetch(`http://127.0.0.1:${port}/api/v2/${name}`)).status
  return { path, start, ask }
}

async function urlsIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return [...text.matchAll(/"url":"\/api\/v2\/(.*?)"/g)].map(([, name = '']) => name)
}

test('SIGHUP does not end access-service and opens the log of requests again, without losing a line', async () => {
  await using stack = new AsyncDisposableStack()
  const { path, start, ask } = await startProcess(stack)
  const program = await start()
  const asked: string[] = []
  for (let round = 0; round < 3; round += 1) {
    const names = Array.from({ length: 20 }, (_, index) => `${round}-${index}`)
    asked.push(...names)
    const answers = names.map((name) => ask(name))
    await rename(path, `${path}.${round}`)
    program.kill('SIGHUP')
    expect(new Set(await Promise.all(answers))).toEqual(new Set([404]))
    await eventually(() => expect(existsSync(path)).toBe(true))
  }
  const files = [path, `${path}.0`, `${path}.1`, `${path}.2`]
  await eventually(async () => {
    const lines = (await Promise.all(files.map(urlsIn))).flat()
    expect(lines.toSorted()).toEqual(asked.toSorted())
  })
  program.kill('SIGTERM')
  expect((await program.ended).code).toBe(0)
})

test('a full disk below the log of requests does not end the service', async () => {
  await using stack = new AsyncDisposableStack()
  const { path, start, ask } = await startProcess(stack)
  await symlink('/dev/full', path)
  const program = await start()
  for (let count = 0; count < 3; count += 1) expect(await ask('full')).toBe(404)
  await program.waitForOutput(/the request log cannot be written/)
  expect(program.output().split('the request log cannot be written')).toHaveLength(2)
  await unlink(path)
  program.kill('SIGHUP')
  await eventually(async () => expect(await readFile(path, 'utf8')).toBe(''))
  expect(await ask('again')).toBe(404)
  await program.waitForOutput(/the request log can be written again/)
  expect(await urlsIn(path)).toEqual(['again'])
})
