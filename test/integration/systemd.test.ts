import { systemdTests } from './systemd.ts'

systemdTests()
