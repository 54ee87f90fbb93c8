import { directoryLineLongTests } from './directory-line.ts'

directoryLineLongTests()
