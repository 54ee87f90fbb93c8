import { systemdLongTests } from './systemd.ts'

systemdLongTests()
