import type { Queue } from 'bullmq'
import type { RunKey } from '../../store/run-types.ts'

/**
 * The whole payload of a job: take the next changes of the run, at most `most`. It proves nothing: at the claim, the
 * store decides what remains to do and whether the run is still the current one. So a ticket that comes twice, late or
 * never costs nothing.
 */
export interface Ticket extends RunKey {
  readonly most: number
}

/** Attempts before a change goes to the retry stage. */
export const PHASE_ATTEMPTS = 2
/** Attempts in all before a change fails. */
export const ATTEMPTS = 5

/** Each sync has its own queue, so that it can be paused alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}

export async function enqueueTickets(queue: Queue<Ticket>, ticket: Ticket, count: number): Promise<void> {
  await queue.addBulk(Array.from({ length: count }, () => ({ name: 'ticket', data: ticket })))
}
