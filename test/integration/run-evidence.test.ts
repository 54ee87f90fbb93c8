import { evidenceTests } from './run-evidence.ts'

evidenceTests()
