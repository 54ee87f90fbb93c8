import { digits, pointInTime } from '../../base/wording.ts'
import type { Difference, NotNewer, ServerParams, ServerState } from '../../core/block.ts'
import { type Sentences, sentence } from './sentence.ts'
import { inQuotes } from './words.ts'

const ADDITIONS = 'users, groups and members are only added until it has all that the last complete run read'

const STATES: Sentences<ServerParams> = {
  'first-read': ({ server }) => `${server} is read for the first time`,
  current: ({ server }) => `${server} has all that the last complete run read`,
  accepted: ({ server }) => `an operator accepted the state of ${server}`,
  'only-server': ({ server }) => `${server} shows no replication state, and is the only server`,
  'no-state': ({ server, why }) =>
    `${server} shows no replication state and ${noStateText(why)}, so a second read has to confirm a delete`,
  'not-newer': notNewerText,
}

/** What is known of the source's server; one sentence without a full stop. */
export function serverText(state: ServerState): string {
  return sentence(STATES, state, inQuotes)
}

export function notNewerText(params: NotNewer): string {
  const { since, until, needsApproval } = params
  const remedy = needsApproval
    ? `it has been so since ${pointInTime(since)}: approve to accept the state of this server`
    : `if that lasts until ${pointInTime(until)}, a run asks whether to accept this server`
  return `${doubtText(params)}; ${remedy}`
}

function doubtText({ how, server, last, difference }: NotNewer): string {
  const values = differenceText(difference)
  switch (how) {
    case 'hidden':
      return `${server} shows no replication state, and the last complete run read one (${values}); ${ADDITIONS}; dirsyncd check names the rights that its bind account needs`
    case 'older':
      return `${server} is older than ${last} was in the last complete run (${values}); nothing is changed until it has caught up`
    case 'other-database':
      return `${server} has another database than ${last} had in the last complete run (${values}); ${ADDITIONS}`
    case 'diverged':
      return `${server} lacks changes that ${last} had in the last complete run, and has other ones (${values}); ${ADDITIONS}`
    case 'lacks-additions':
      return `${server} lacks changes of another server, from which this sync has added users, groups or members since the last complete run (${values}); ${ADDITIONS}`
  }
}

function noStateText(why: ServerParams['no-state']['why']): string {
  switch (why.how) {
    case 'other-server':
      return `is another or a newly filled server (${differenceText(why.difference)})`
    case 'was-other-server':
      return `was another or a newly filled server at ${pointInTime(why.at)}`
    case 'several-addresses':
      return `is one of ${digits(why.addresses)} addresses of the source`
    case 'perhaps-several':
      return 'may be one of several behind its address'
  }
}

function differenceText({ key, known, seen }: Difference): string {
  return `${key}: ${known ?? 'nothing'} then, ${seen ?? 'nothing'} now`
}
