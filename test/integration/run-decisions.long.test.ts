import { decisionsLongTests } from './run-decisions.ts'

decisionsLongTests()
