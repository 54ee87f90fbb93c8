import { describeRuns } from './run-behaviour.ts'

describeRuns('redis', 'all')
