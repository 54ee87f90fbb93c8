import { testLacks } from './lacks.ts'

testLacks({ lacking: 60, settled: 40 })
