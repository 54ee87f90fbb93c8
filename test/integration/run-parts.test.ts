import { partsTests } from './run-parts.ts'

partsTests()
