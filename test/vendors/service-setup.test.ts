import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Assertion, Subscription } from '../../src/api/contract/subscription.ts'
import { runScript } from '../support/script.ts'
import { startProgram } from '../support/program.ts'
import { mellonAcsUrl, startMellon } from '../support/saml-mellon.ts'
import { freePort } from '../support/server-process.ts'
import { tempDir } from '../support/temp.ts'

/** The blocks of the section "Begin" of docs/service.md, by their language. */
async function blocksOfBegin(language: 'sh' | 'yaml'): Promise<string[]> {
  const page = await readFile(new URL('../../docs/service.md', import.meta.url), 'utf8')
  const [, begin = ''] = /\n## Begin\n(.*?)\n## /s.exec(page) ?? []
  return [...begin.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, name, text = '']) =>
    name === language ? [text] : [],
  )
}

test('docs/service.md sets up, with its commands only, a contact who logs in to mod_auth_mellon', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: dir } = stack.use(await tempDir())
  const [port, appPort] = [await freePort(), await freePort()]
  // Only the paths, the ports and the store are those of the test.
  const local = (text: string) =>
    text
      .replaceAll('/etc/access-service/', `${dir}/`)
      .replaceAll('/run/secrets/', `${dir}/`)
      .replaceAll('/var/lib/access-service/', `${dir}/`)
      .replaceAll('127.0.0.1:8090', `127.0.0.1:${port}`)
      .replaceAll('https://intranet.northgate.example/mellon/postResponse', mellonAcsUrl(appPort))
  const [keyBlock = '', startBlock = '', ...others] = (await blocksOfBegin('sh')).map(local)
  const [config = ''] = (await blocksOfBegin('yaml')).map(local)
  const { storePassword: _, ...service } = (parse(config) as { service: Record<string, unknown> }).service
  await writeFile(join(dir, 'access-service.yaml'), stringify({ service: { ...service, store: 'embedded' } }))

  await runScript(dir, keyBlock)
  expect(startBlock).toMatch(/^export ACCESS_SERVICE_CONFIG=.*\naccess-service start +#/)
  const running = stack.use(
    startProgram(['start', '--config', join(dir, 'access-service.yaml')], { program: 'access-service' }),
  )
  await running.waitForOutput(/listens on/)
  const printed = await runScript(dir, `${startBlock.split('\n')[0]}\n${others.join('\n')}`)
  const answers = printed
    .split('\n')
    .flatMap((line) => (/^[[{]/.test(line) ? [JSON.parse(line) as unknown] : []))
  const [directories, subscription, reset, credentials, assertion] = answers as [
    unknown,
    Subscription,
    Subscription,
    { password: string },
    Assertion,
  ]
  expect(directories).toMatchObject([{ id: 1, name: 'Northgate people' }])
  expect(subscription).toMatchObject({ name: 'Intranet', login: 'zoe', subscriber: { name: 'Zoë Keller' } })
  expect(reset.password_strength).toMatchObject({ grade: 'strong' })
  expect(credentials.password).not.toBe('to-be-reset')

  const metadata = await readFile(join(dir, 'idp.xml'), 'utf8')
  const mellon = await startMellon({
    port: appPort,
    entityId: 'https://intranet.northgate.example/saml',
    metadata,
  })
  stack.defer(() => mellon.close())
  expect(await mellon.login(assertion.saml_response)).toMatchObject({
    nameId: 'zoe@northgate.example',
    attributes: { name: 'Zoë Keller' },
  })
})
