import { verificationTests } from './verification.ts'

verificationTests()
