import { refusalsTests } from './run-refusals.ts'

refusalsTests()
