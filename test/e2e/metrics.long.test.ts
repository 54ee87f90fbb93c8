import { metricsLongTests } from './metrics.ts'

metricsLongTests()
