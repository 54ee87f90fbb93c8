import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configurationDocument } from '../../../scripts/configuration-document.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'

test('docs/configuration.md is what the schema says; npm run configuration writes it', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
  expect(page).toBe(configurationDocument())
})

test('the page has a row or a heading for every option, with its full path', () => {
  const paths = pathsOf('', configJsonSchema())
  expect(paths).toContain('syncs[].source.users.map.email')
  const page = configurationDocument()
  const missing = paths.filter((path) => !page.includes(`| \`${path}\` |`) && !page.includes(`## \`${path}`))
  expect(missing).toEqual([])
})

/** The path of every option at any depth; `secret` and `expression` have sections of their own. */
function pathsOf(path: string, schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, items, anyOf, oneOf } = schema as Record<string, object | undefined>
  const forms = Object.values({ ...anyOf, ...oneOf })
  const own = Object.entries(properties ?? {}).flatMap(([name, option]: [string, unknown]) => {
    const child = path === '' ? name : `${path}.${name}`
    return [child, ...pathsOf(child, option)]
  })
  return [...own, ...pathsOf(`${path}[]`, items), ...forms.flatMap((form) => pathsOf(path, form))]
}
