import { holdsTests } from './holds.ts'

holdsTests()
