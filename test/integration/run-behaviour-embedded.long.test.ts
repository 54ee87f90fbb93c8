import { describeRuns } from './run-behaviour.ts'

describeRuns('embedded', 'all')
