import { writeFileSync } from 'node:fs'
import { codesDocument } from './codes-document.ts'

writeFileSync(new URL('../docs/codes.md', import.meta.url), codesDocument())
