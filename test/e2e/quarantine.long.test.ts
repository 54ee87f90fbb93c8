import { quarantineTests } from './quarantine.ts'

quarantineTests('with a daemon')
