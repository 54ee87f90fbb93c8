import { canaryLongTests } from './canary.ts'

canaryLongTests()
