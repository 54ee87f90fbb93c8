import { writeFileSync } from 'node:fs'
import { configurationDocument } from './configuration-document.ts'
import { exampleConfiguration, exampleServiceConfiguration } from './example-configuration.ts'

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationDocument())
writeFileSync(new URL('../config/example.yaml', import.meta.url), exampleConfiguration())
writeFileSync(new URL('../config/access-service.yaml', import.meta.url), exampleServiceConfiguration())
