import { testNext } from './next-worlds.ts'

testNext(150, 4000)
