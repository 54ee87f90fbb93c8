import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Config, loadConfig } from '../../../src/service/config/config.ts'
import { exampleServiceConfiguration } from '../../../scripts/example-configuration.ts'
import { serviceJsonSchema } from '../../../src/service/config/schema.ts'
import { createFolder } from '../config/folder.ts'
import { optionsOf, undescribed } from '../config/schema-options.ts'

const KEYS = 'service:\n  keyFile: keys\n'

async function load(text: string): Promise<Config> {
  await using folder = await createFolder()
  return await loadConfig({ file: await folder.write('access-service.yaml', text), env: {} })
}

test.each<[string, string, string]>([
  [
    'a service without its keys',
    'service: {}',
    '1:1: service.keyFile: is missing; it must be the path of the file with the keys that credentials are encrypted with, ' +
      'and `access-service key create FILE` makes one',
  ],
  ['an unknown key', `${KEYS}  lisen: x`, '3:3: service.lisen: is not a known option; did you mean listen?'],
  [
    'a password without a server',
    `${KEYS}  storePassword: { env: P }`,
    '3:3: service.storePassword: has no use while store is embedded',
  ],
  [
    'a network of proxies that ends within the prefix of IPv4 in IPv6',
    `${KEYS}  trustedProxies: [10.0.0.0/8, "::FFFF:10.0.0.0/90"]`,
    '3:32: service.trustedProxies[1]: must have a prefix of 96 or more, because it is an IPv4 network in IPv6 form',
  ],
  ...['23h', '3650000d', '999999999999d', '0d', '2 years'].map((time): [string, string, string] => [
    `a history of events of ${time}`,
    `${KEYS}  eventRetention: ${time}`,
    '3:3: service.eventRetention: must be a duration from 1d to 36500d, or null, which keeps all',
  ]),
])('refuses %s', async (_name, text, line) => {
  await expect(load(text)).rejects.toThrow(`access-service.yaml:${line}`)
})

test('paths start at the folder of the file, and the environment names it', async () => {
  await using folder = await createFolder()
  const file = await folder.write('other.yaml', `dataDir: data\n${KEYS}`)
  const { service } = await loadConfig({ env: { ACCESS_SERVICE_CONFIG: file } })
  expect(service.dataDir).toBe(join(folder.path, 'data', 'service'))
  expect(service.keyFile).toBe(join(folder.path, 'keys'))
  expect(service.uniqueExternalIds).toBe(true)
  await expect(loadConfig({ env: {}, usualFiles: [join(folder.path, 'none.yaml')] })).rejects.toThrow(
    'copy config/access-service.yaml to it and edit it',
  )
})

async function limitOf(more: string) {
  return (await load(`${KEYS}${more}`)).service.rateLimit
}

test('the service has a generous limit of requests, which can be changed or switched off', async () => {
  expect(await limitOf('')).toEqual({ requests: 10_000, perMs: 10_000 })
  expect(await limitOf('  rateLimit: { requests: 50 }')).toEqual({ requests: 50, perMs: 1000 })
  expect(await limitOf('  rateLimit: null')).toBeUndefined()
})

test('the longest history of events is a hundred years, or for ever', async () => {
  const century = await load(`${KEYS}  eventRetention: 36500d\n`)
  expect(century.service.eventRetentionMs).toBe(36_500 * 86_400_000)
  const forEver = await load(`${KEYS}  eventRetention: null\n`)
  expect(forEver.service.eventRetentionMs).toBeUndefined()
})

const EXAMPLE = 'config/access-service.yaml'

test('the example is what the schema says, shows every option, and is valid; npm run configuration writes it', async () => {
  const text = await readFile(EXAMPLE, 'utf8')
  expect(text).toBe(exampleServiceConfiguration())
  expect(optionsOf(serviceJsonSchema()).filter((option) => !text.includes(`${option}:`))).toEqual([])
  const { service } = await loadConfig({ file: EXAMPLE, env: {} })
  expect(service.listen.port).toBe(8090)
  await expect(load(text.replaceAll(/^( *)#(?=\w+:)/gm, '$1'))).resolves.toBeDefined()
})

test('config/access-service.schema.json is what the schema says; npm run schema writes it', async () => {
  const written: unknown = JSON.parse(await readFile('config/access-service.schema.json', 'utf8'))
  expect(written).toEqual(serviceJsonSchema())
  expect(undescribed(serviceJsonSchema(), '')).toEqual([])
})
