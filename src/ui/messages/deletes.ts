import type { DeleteReason } from '../../core/plan/change.ts'

/** Follows the name of the deleted entry. */
export const DELETE_REASONS: Readonly<Record<DeleteReason, string>> = {
  gone: 'not in the source, or outside base and filter',
  'left-filter': "outside the sync's filter",
  disabled: 'disabled in the source',
  undone: 'as the run that is undone created it',
}
