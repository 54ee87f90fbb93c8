import { canaryTests } from './canary.ts'

canaryTests()
