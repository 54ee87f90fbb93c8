import { configJsonSchema } from './schema.ts'

interface SecretOptions {
  /** Each is a secret in some section. */
  readonly names: ReadonlySet<string>
  /**
   * Operators misplace options: a secret in one section is one in all, unless the section's `type` declares otherwise.
   */
  isIn(section: object, name: string): boolean
}

const SECRET = '#/$defs/secret'

export function secretOptions(): SecretOptions {
  const names = new Set<string>()
  const others = new Set<string>()
  for (const properties of sectionsOf(configJsonSchema())) {
    const type = constOf(properties['type'])
    for (const [name, schema] of Object.entries(properties)) {
      if (isSecret(schema)) names.add(name)
      else if (type !== undefined) others.add(`${type} ${name}`)
    }
  }
  const isOther = (section: object, name: string) =>
    'type' in section && typeof section.type === 'string' && others.has(`${section.type} ${name}`)
  return { names, isIn: (section, name) => names.has(name) && !isOther(section, name) }
}

type Properties = Readonly<Record<string, unknown>>

function sectionsOf(schema: unknown): readonly Properties[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? [schema.properties as Properties] : []
  return [...own, ...Object.values(schema).flatMap(sectionsOf)]
}

function isSecret(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && '$ref' in schema && schema.$ref === SECRET
}

function constOf(schema: unknown): string | undefined {
  const isConst = typeof schema === 'object' && schema !== null && 'const' in schema
  return isConst && typeof schema.const === 'string' ? schema.const : undefined
}
