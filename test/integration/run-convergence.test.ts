import { convergenceTests } from './run-convergence.ts'

convergenceTests()
