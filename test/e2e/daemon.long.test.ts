import { daemonLongTests } from './daemon.ts'

daemonLongTests()
