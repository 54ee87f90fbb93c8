import { identityTests } from './run-identity.ts'

identityTests()
