import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import type { Program } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { openSite } from '../support/site.ts'

/** access-service with requests that take so long. */
export async function serve(stack: AsyncDisposableStack, faults: string, store?: string) {
  const site = stack.use(await openSite({ program: 'access-service' }))
  const port = await freePort()
  await site.write('keys', newKeyLine('k1'))
  await site.write('fixture.yaml', FIXTURE_YAML)
  await site.configure({
    dataDir: './data',
    service: {
      listen: `127.0.0.1:${port}`,
      store: store ?? (await createDatabase(SERVICE_TEMPLATE)),
      keyFile: './keys',
      fixture: './fixture.yaml',
      ...(faults !== '' && { faults }),
    },
  })
  const program = stack.use(site.start('start'))
  await program.waitForOutput(/listens on/)
  return { site, port, program }
}

export async function stop(program: Program): Promise<void> {
  program.kill('SIGTERM')
  expect((await program.ended).code).toBe(0)
}

/** Sends a request and resolves when the service has it; `answer` is the status, or `cut`. */
export async function send(port: number): Promise<{ readonly answer: Promise<number | 'cut'> }> {
  const sent = get({
    port,
    host: '127.0.0.1',
    path: '/api/v2/organizations/1/admin/directories',
    // The service says at once that it has the headers.
    headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'd', expect: '100-continue' },
  })
  const answer = once(sent, 'response').then(
    ([response]: IncomingMessage[]) => response?.resume().statusCode ?? 0,
    () => 'cut' as const,
  )
  await once(sent, 'continue')
  return { answer }
}
