import { initLongTests } from './init.ts'

initLongTests()
