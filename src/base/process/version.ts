import { readFileSync } from 'node:fs'

export function programVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const description: unknown = JSON.parse(text)
  return typeof description === 'object' && description !== null && 'version' in description
    ? String(description.version)
    : 'unknown'
}
