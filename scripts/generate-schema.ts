import { writeFile } from 'node:fs/promises'
import { configJsonSchema } from '../src/config/schema.ts'
import { serviceJsonSchema } from '../src/service/config/schema.ts'

/** Writes the JSON schemas, with which editors check the configurations. A test fails when one is stale. */
for (const [name, schema] of [
  ['schema', configJsonSchema()],
  ['access-service.schema', serviceJsonSchema()],
] as const) {
  const path = new URL(`../config/${name}.json`, import.meta.url)
  await writeFile(path, `${JSON.stringify(schema, null, 2)}\n`)
}
