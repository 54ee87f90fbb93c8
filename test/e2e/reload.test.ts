import { reloadTests } from './reload.ts'

reloadTests()
