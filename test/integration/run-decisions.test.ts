import { decisionsTests } from './run-decisions.ts'

decisionsTests()
