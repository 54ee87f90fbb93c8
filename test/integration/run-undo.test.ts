import { undoTests } from './run-undo.ts'

undoTests()
