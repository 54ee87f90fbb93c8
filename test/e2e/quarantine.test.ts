import { quarantineReportTests, quarantineTests } from './quarantine.ts'

quarantineTests('without a daemon')
quarantineReportTests()
