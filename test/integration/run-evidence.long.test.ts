import { evidenceLongTests } from './run-evidence.ts'

evidenceLongTests()
