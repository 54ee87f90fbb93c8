import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from 'pg'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send, serve, stop } from './service-process.ts'

test('the deletion of old events holds nobody up who stops the service', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase(SERVICE_TEMPLATE)
  const first = await serve(stack, '', store)
  await stop(first.program)
  const client = new Client(store)
  await client.connect()
  stack.defer(() => client.end())
  await client.query('begin')
  await client.query('lock table access_management.events in share mode')
  const program = stack.use(first.site.start('start'))
  await program.waitForOutput(/listens on/)
  await eventually(async () => {
    const waiting =
      "select count(*)::int as count from pg_locks where not granted and relation = 'access_management.events'::regclass"
    expect((await client.query(waiting)).rows).toEqual([{ count: 1 }])
  })
  await stop(program)
})

test('a service that stops does not wait for a client that keeps its connection', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, program } = await serve(stack, '')
  const dispatcher = stack.adopt(new Agent({ keepAliveTimeout: 60_000 }), (agent) => agent.destroy())
  const { body } = await request(`http://127.0.0.1:${port}/healthz`, { dispatcher })
  await body.text()
  const silent = connect(port, '127.0.0.1')
  silent.on('error', () => undefined)
  await once(silent, 'connect')
  await stop(program)
})

test('a service that stops does not wait for ever for a request that is stuck', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, program } = await serve(stack, 'latency=1:60s')
  const { answer } = await send(port)
  await stop(program)
  expect(await answer).toBe('cut')
})
