import { initTests } from './init.ts'

initTests()
