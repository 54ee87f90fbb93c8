import { bundleTests } from './bundle.ts'

bundleTests()
