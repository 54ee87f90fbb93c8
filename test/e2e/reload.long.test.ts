import { reloadLongTests } from './reload.ts'

reloadLongTests()
