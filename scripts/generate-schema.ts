import { writeFile } from 'node:fs/promises'
import { configJsonSchema } from '../src/config/schema.ts'

/** Writes `config/schema.json`, from which editors complete and check the configuration. A test fails when it is stale. */
const target = new URL('../config/schema.json', import.meta.url)
await writeFile(target, `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
