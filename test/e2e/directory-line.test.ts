import { directoryLineTests } from './directory-line.ts'

directoryLineTests()
