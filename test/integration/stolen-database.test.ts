import { openPostgres, testStolenDatabase } from './stolen-database.ts'

testStolenDatabase(openPostgres)
