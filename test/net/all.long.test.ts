import { testNext } from './next-worlds.ts'

testNext(0, 20_000)
