import { testWorlds } from './worlds.ts'

testWorlds(500, 20_500)
