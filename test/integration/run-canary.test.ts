import { canaryTests } from './run-canary.ts'

canaryTests()
