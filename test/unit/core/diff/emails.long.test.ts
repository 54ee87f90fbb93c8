import { testAnyEmails } from './emails.ts'

testAnyEmails(1000)
