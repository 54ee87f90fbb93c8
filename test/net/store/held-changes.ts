import type { Steps } from '../../../src/base/steps.ts'
import type { RecordedBreach } from '../../../src/core/plan/decide.ts'
import { inBothForms } from './breaches.ts'

export function* heldRows(breaches: readonly RecordedBreach[]): Steps<ReturnType<typeof inBothForms>> {
  yield
  return inBothForms(breaches)
}
