import { describeRuns } from './run-behaviour.ts'

describeRuns('postgres', 'core')
