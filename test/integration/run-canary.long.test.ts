import { canaryLongTests } from './run-canary.ts'

canaryLongTests()
