import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { exampleConfiguration } from '../../../scripts/example-configuration.ts'
import { checkConfig } from '../../../src/config/check.ts'
import { readYaml } from '../../../src/base/yaml/document.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'
import { optionsOf, undescribed } from './schema-options.ts'
import { wholeExample } from '../../support/example-configuration.ts'

const EXAMPLE = 'config/example.yaml'

test('the example is a valid configuration', async () => {
  const config = await loadConfig({ file: EXAMPLE, env: {} })
  expect(config.syncs.map(({ name }) => name)).toEqual(['corp', 'contractors', 'payroll'])
})

test('the example is what the schema says; npm run configuration writes it', async () => {
  expect(await readFile(EXAMPLE, 'utf8')).toBe(exampleConfiguration())
})

test('the example shows every option', () => {
  const text = exampleConfiguration()
  const missing = optionsOf(configJsonSchema()).filter((option) => !new RegExp(`\\b${option}:`).test(text))
  expect(missing).toEqual([])
})

test('what the example has commented out is valid, too', () => {
  const insteadOfFile = /^ *(column: teams|separator:|name: Team).*\n/gm
  const read = readYaml(wholeExample().replaceAll(insteadOfFile, ''))
  if (!('value' in read)) throw new Error(JSON.stringify(read.faults))
  expect(checkConfig(read.value).faults).toEqual([])
})

test('every option has a description', () => {
  expect(undescribed(configJsonSchema(), '')).toEqual([])
})

test('config/schema.json is what the schema says; node scripts/generate-schema.ts writes it', async () => {
  const written: unknown = JSON.parse(await readFile('config/schema.json', 'utf8'))
  expect(written).toEqual(configJsonSchema())
})
