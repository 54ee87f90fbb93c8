import { testLacks } from './lacks.ts'

testLacks({ lacking: 5000, settled: 2000 })
