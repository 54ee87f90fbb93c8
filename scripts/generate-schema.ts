import { writeFile } from 'node:fs/promises'
import { configJsonSchema } from '../src/config/schema.ts'

/** Writes `config/schema.json`, which editors use to check the configuration. A test fails when the file is stale. */
const path = new URL('../config/schema.json', import.meta.url)
await writeFile(path, `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
