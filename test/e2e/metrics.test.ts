import { metricsTests } from './metrics.ts'

metricsTests()
