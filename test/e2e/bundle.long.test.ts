import { bundleLongTests } from './bundle.ts'

bundleLongTests()
