import type { FencedRun } from '../../store/fenced-run.ts'

/**
 * The whole payload of a job: take the next changes of the run, at most `most`. It proves nothing: at the claim, the
 * store decides what remains to do and whether the run is still the current one. So a ticket that comes twice, late or
 * never costs nothing.
 */
export interface Ticket extends Pick<FencedRun, 'run' | 'epoch'> {
  readonly most: number
}

/** Each sync has its own queue, so that it can be paused alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}
