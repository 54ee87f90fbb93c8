import { holdsLongTests } from './holds.ts'

holdsLongTests()
