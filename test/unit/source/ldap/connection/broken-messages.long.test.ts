import { testMutations } from './broken-messages.ts'

testMutations(100_000)
