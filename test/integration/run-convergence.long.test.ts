import { convergenceLongTests } from './run-convergence.ts'

convergenceLongTests()
