import { verificationLongTests } from './verification.ts'

verificationLongTests()
