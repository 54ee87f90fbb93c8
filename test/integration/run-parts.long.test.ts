import { partsLongTests } from './run-parts.ts'

partsLongTests()
