import { identityLongTests } from './run-identity.ts'

identityLongTests()
