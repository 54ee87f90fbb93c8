import { refusalsLongTests } from './run-refusals.ts'

refusalsLongTests()
