import { openEmbedded, testStolenDatabase } from './stolen-database.ts'

testStolenDatabase(openEmbedded)
