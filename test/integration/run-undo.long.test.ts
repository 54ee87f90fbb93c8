import { undoLongTests } from './run-undo.ts'

undoLongTests()
