/** The name of every option of a JSON schema, at any depth. */
export function optionsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.keys(schema.properties ?? {}) : []
  return [...own, ...Object.values(schema).flatMap(optionsOf)]
}

/** The paths of options without a description; the discriminator of a union needs none. */
export function undescribed(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.entries(schema.properties ?? {}) : []
  return [
    ...own
      .filter(([option, of]) => !('description' in of) && option !== 'type' && option !== 'value')
      .map(([option]) => `${path}.${option}`),
    ...Object.entries(schema).flatMap(([key, part]) => undescribed(part, `${path}.${key}`)),
  ]
}
