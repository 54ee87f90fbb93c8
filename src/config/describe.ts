import type { Config } from './config.ts'

/** The configuration as plain data that may be logged and shown: every secret is replaced by where it comes from. */
export function describeConfig(config: Config): Readonly<Record<string, unknown>> {
  return describeSection(config)
}

function describe(value: unknown): unknown {
  if (isSecret(value)) return `<${value.describe()}>`
  if (typeof value === 'function') return '<function>'
  if (typeof value === 'string' && value.includes('-----BEGIN ')) return '<PEM>'
  if (Array.isArray(value)) return value.map(describe)
  if (typeof value !== 'object' || value === null) return value
  return describeSection(value)
}

function describeSection(section: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(section)
      .filter(([, option]) => option !== undefined)
      .map(([key, option]) => [key, describe(option)]),
  )
}

function isSecret(value: unknown): value is { describe(): string } {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'describe' in value && typeof value.describe === 'function'
}
