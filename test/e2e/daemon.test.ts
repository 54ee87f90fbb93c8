import { daemonTests } from './daemon.ts'

daemonTests()
