import { amount, digits } from '../../base/wording.ts'
import type { Examples, Notice, NoticeCode, NoticeOf, NoticeParams } from '../../core/notice.ts'
import { fieldText, inQuotes, named, userText } from './words.ts'

export interface NoticeMessage<Code extends NoticeCode> {
  readonly meaning: string
  /** What the operator can do; undefined where nothing has to be done. */
  readonly remedy: string | undefined
  /** Follows the kind and id of the entry; a clause without a full stop. */
  readonly text: (params: NoticeParams[Code], notice: NoticeOf<Code>) => string
}

const FAULT = (params: { readonly from: string; readonly fault: string }) => `${params.from}: ${params.fault}`
const EMAIL_FAULTS = {
  'no-address': 'is no address',
  'other-domain': 'is outside the allowed domains',
} as const
const NO_MEMBERS = 'this sync writes no members (directory.membership)'

export const NOTICES: { readonly [Code in NoticeCode]: NoticeMessage<Code> } = {
  unreadable: {
    meaning: 'not understood, so nothing is deleted in this run',
    remedy: 'Correct the entry or row in the source, or exclude it by the filter.',
    text: FAULT,
  },
  'duplicate-id': {
    meaning: 'skipped: the id is used more than once',
    remedy:
      'Give each entry an id of its own, or map external_id to an attribute that is unique. The next run reads an entry again that changed.',
    text: ({ from, others }, { id }) =>
      others.total === 0
        ? `${from}: changed between two reads of it; this run leaves it as it is`
        : `${from}: the id "${id ?? ''}" is also used by ${named(others)}`,
  },
  'doubtful-text': {
    meaning: 'text that seems to be in another encoding than the configured one',
    remedy: 'Look at the named value, and set encoding to that of the file.',
    text: FAULT,
  },
  'no-name': {
    meaning: 'skipped: the group has no name',
    remedy: 'Give the group a name in the source, or map name to an attribute that it has.',
    text: ({ from }) => `${from}: the group has no name`,
  },
  'value-failed': {
    meaning: 'a mapped value could not be computed, so the entry is without it',
    remedy: 'Correct the value in the source, or the expression in the mapping.',
    text: FAULT,
  },
  'unknown-members': {
    meaning:
      'members that match no user of the sync, or of a group that is not in the file of groups; left out',
    remedy:
      'Check whether the base and filter of users cover these members. groups.nested: flatten adds the users of groups within.',
    text: unresolvedText,
  },
  'members-hidden': {
    meaning: 'left as it is: not all members of the group could be read',
    remedy:
      'Read groups from a server that has all their members; a group that changed is read again by the next run.',
    text: ({ from, why, isOwn, groups }) => {
      const whose = isOwn ? 'its members' : `the members of ${named(groups)} within it`
      return why === 'changing'
        ? `${from}: could not be read as a whole, because ${whose} changed during each read`
        : `${from}: the global catalog does not have ${whose}, but only those of universal groups and of its own domain`
    },
  },
  disabled: {
    meaning: 'the account is disabled in the source',
    remedy: 'Nothing has to be done. users.disabled decides whether disabled accounts are deleted or left.',
    text: ({ from, isGone }) =>
      `${from}: is disabled and ${isGone ? 'treated as absent' : 'left in the directory as it is'}`,
  },
  unaddressable: {
    meaning: 'in the directory without a usable external id, so dirsyncd cannot change it',
    remedy:
      'Leave an account that was made by hand as it is. For a synced user, enter the id of its source entry in the service: with any other id, dirsyncd may delete it.',
    text: ({ ownId, name, fault }, { kind }) =>
      `the ${kind}${ownId === null ? '' : ` ${ownId}`} "${name}" of the directory cannot be addressed: ${fault}`,
  },
  'shared-id': {
    meaning:
      'several entries of the directory have one external id; none of them is deleted, and no run is complete',
    remedy: 'Keep the entry that is in use, and delete the others in the service.',
    text: ({ ownIds }, { kind, id }) => {
      const their = ownIds.length === 0 ? '' : ` (their ids in the service: ${ownIds.join(', ')})`
      return `several ${kind}s of the directory have the external id "${id ?? ''}"${their}`
    },
  },
  'email-not-allowed': {
    meaning: 'skipped: the e-mail is no address, or outside the allowed domains',
    remedy:
      'Correct the e-mail in the source, add its domain to directory.allowedDomains, or set directory.dropBadEmails: true.',
    text: ({ from, email, why }) =>
      `${emailFaultText({ email, why })} (${from}); nothing is written for this user`,
  },
  'email-dropped': {
    meaning: 'written without the e-mail, which is no address or outside the allowed domains',
    remedy: 'Correct the e-mail in the source, or add its domain to directory.allowedDomains.',
    text: ({ from, email, why, isKept }) =>
      `${emailFaultText({ email, why })} (${from}); ${isKept ? 'the directory keeps its own' : 'this user is written without it'}`,
  },
  'no-email': {
    meaning: 'created without an e-mail',
    remedy: 'Add an e-mail in the source, if users need one to log in.',
    text: ({ from }) => `the source has no usable e-mail (${from}); the user is created without one`,
  },
  'duplicate-email': {
    meaning: 'another user has or gets the e-mail; the rest of the user is written',
    remedy: 'Give one of the two users another e-mail in the source.',
    text: duplicateEmailText,
  },
  'email-swap': {
    meaning: 'users exchange their e-mails, which a service may refuse',
    remedy: 'If the service refuses the exchange, give one of these users any other e-mail in the service.',
    text: ({ email, owner, isUndo }) => {
      const remedy = isUndo
        ? 'give them their e-mails back in the service'
        : 'give one of these users any other e-mail in the service: the next run then changes them all'
      return `gets the e-mail ${email} of "${owner}", which gets another one, in a circle of such changes. If the service allows each e-mail only once and refuses this, ${remedy}`
    },
  },
  'id-moved': {
    meaning: 'name and e-mail change at once: the id may belong to another user now',
    remedy:
      'Check the user in the source. An id that is given to another user gives away the access of the first one.',
    text: ({ from, before, after, undone }) =>
      undone === null
        ? `was ${userText(before)} and is ${userText(after)} in the source (${from}): the id may belong to another user now`
        : `was ${userText(before)} and becomes ${userText(after)} again, as before run ${undone}`,
  },
  'new-id': {
    meaning: 'seems to be a deleted user under a new id',
    remedy: 'Check that external_id is mapped to an attribute that never changes.',
    text: ({ oldId, email }) =>
      `has the e-mail ${email} of "${oldId}", which this plan deletes: it looks like one user with a new id`,
  },
  'other-id-form': {
    meaning: 'deleted by this plan, and perhaps never in the source: the id has another form',
    remedy:
      'Put accounts that were made by hand on the list entries.users.protected or entries.groups.protected.',
    text: ({ form }, { kind }) =>
      `this plan deletes it; all ids of ${kind}s in the source are ${form === 'guid' ? 'GUIDs' : 'numbers'}, and this one is not. Unless an earlier read had it, it was made by hand or by another program; entries.${kind}s.protected keeps it`,
  },
  'unknown-id': {
    meaning: 'named in the command, and neither in the source nor in the directory',
    remedy: 'Check the id, and whether it is one of a user or of a group.',
    text: ({ similar, isOtherKind }, { kind, id }) => {
      const meant = isOtherKind ? `--${kind === 'user' ? 'group' : 'user'} ${id ?? ''}` : similar
      const hint = meant === null ? 'is the id right?' : `did you mean ${meant}?`
      return `is neither in the source nor in the directory; ${hint}`
    },
  },
  excluded: {
    meaning: 'excluded by the lists of the sync; neither written nor deleted',
    remedy: 'Change entries.users or entries.groups of the sync, if it should be written.',
    text: ({ list, from }, { kind }) => {
      const why = `${list === 'include' ? 'not ' : ''}on the list entries.${kind}s.${list}`
      return from === null ? `${why}: not deleted` : `${why} (${from}): neither written nor deleted`
    },
  },
  protected: {
    meaning: 'created by the undone run, and on the list protected of the sync: not deleted',
    remedy: 'Take it off the list protected, if it should be deleted.',
    text: (_, { kind }) => `created by the run, and on the list entries.${kind}s.protected: not deleted`,
  },
  'value-kept': {
    meaning: 'the source has no value, so the directory keeps its own',
    remedy:
      'Nothing has to be done: an empty value never clears one. Clear it in the service, if it should go.',
    text: ({ from, fields }) =>
      `the source has no usable ${fields.map(fieldText).join(' and no usable ')} (${from}); the directory keeps its own`,
  },
  'membership-differs': {
    meaning: 'other members than in the source; only reported (directory.membership)',
    remedy: 'Set directory.membership: write, if the sync should write members.',
    text: ({ group, added, removed }) =>
      `"${group}": it lacks ${amount(added, 'member')} of the source and has ${digits(removed)} that the source does not`,
  },
  'changed-since': {
    meaning: 'not as the undone run left it, so it stays as it is',
    remedy: 'Change it in the service, or undo the later run first.',
    text: changedSinceText,
  },
  'not-restored': {
    meaning: 'not restored by the undo, or not all of it',
    remedy: 'Change it in the service.',
    text: notRestoredText,
  },
  'read-back': {
    meaning: 'write verification: the first changes of their kind were read back',
    remedy: undefined,
    text: ({ op, changes }) => `the first ${amount(changes, 'change')} of the kind ${op} were read back`,
  },
  rewritten: {
    meaning: 'the service shows another value than was sent: it cuts, changes or does not store it',
    remedy:
      'Compare the value in the service with the one of the source, and report the difference to its vendor.',
    text: ({ field, sent, shown }) => `got ${valueText(field, sent)}, and shows ${valueText(field, shown)}`,
  },
  'batches-off': {
    meaning: 'three batches of creates in a row failed, so the rest of the run sends each entry alone',
    remedy: 'If it happens again, set directory.createBatch to a smaller number, or to 1.',
    text: ({ reason }) => `${reason.replace(/\.$/, '')}; the rest of the run sends each entry alone`,
  },
  'directory-incomplete': {
    meaning: 'entries to create were there already: the list of the directory may be incomplete',
    remedy: 'Nothing was created twice. Report to the vendor that the list of the service lacks entries.',
    text: ({ there, creates }, { kind }) =>
      `the directory already had ${digits(there)} of the ${amount(creates, kind)} to create. Its list may lack entries, also absent users, or the service created entries and refused the request`,
  },
}

/** Names the entry's own fault or state; a clause without the kind, the id and a full stop. */
export function noticeText(notice: Notice): string {
  // The parameters of a notice are those of its code, which the type of one row cannot say.
  const { text } = NOTICES[notice.code] as NoticeMessage<NoticeCode>
  return text(notice.params, notice)
}

function unresolvedText(params: NoticeParams['unknown-members']): string {
  const { from, total } = params
  if (from !== null) return `${from}: ${unresolvedMembersText(params)}`
  return `is not in the file of groups, and has ${amount(total, 'member')}${namedMembers(params)}`
}

/** Without the place of the group. */
export function unresolvedMembersText({
  groups,
  shared,
  ...members
}: NoticeParams['unknown-members']): string {
  const { total } = members
  const hint =
    groups === 0
      ? ''
      : `; ${groups === 1 ? '1 is a group' : `${digits(groups)} are groups`}, whose users count with groups.nested: flatten`
  const several =
    shared.total === 0 ? '' : `; ${named(shared)} may be any of several users, so none is added for it`
  return `${total === 1 ? '1 member is no user' : `${digits(total)} members are no users`} of this sync${namedMembers(members)}${hint}${several}`
}

/** None where all that the source named are users that leave. */
function namedMembers(members: Examples): string {
  return members.examples.length === 0 ? '' : `: ${named(members)}`
}

function emailFaultText({ email, why }: Pick<NoticeParams['email-not-allowed'], 'email' | 'why'>): string {
  return `the e-mail ${email} ${EMAIL_FAULTS[why]}`
}

function emailOwnerText({ email, owner, how }: NoticeParams['duplicate-email']): string {
  switch (how) {
    case 'held':
      return `"${owner}" has the e-mail ${email} in the directory and keeps it`
    case 'smallest-id':
      return `the e-mail ${email} goes to "${owner}", which has the smallest id of the users that want it`
    case 'shared':
      return `the directory shows the e-mail ${email} with "${owner}" too`
  }
}

function duplicateEmailText(params: NoticeParams['duplicate-email']): string {
  const owner = emailOwnerText(params)
  if (params.how === 'shared') return `${owner}; this is not changed`
  if (params.undo !== null) return `${owner}; ${undoAdvice(params.undo)}`
  return `${owner}; the rest of this user (${params.from}) is written without it`
}

function undoAdvice({ run, why }: NonNullable<NoticeParams['duplicate-email']['undo']>): string {
  const gave = `run ${run} gave it that e-mail`
  switch (why) {
    case 'other-run':
      return `run ${run} did not give it that e-mail: undo the later run that did, or free the e-mail in the service, and then undo run ${run} again`
    case 'other-part':
      return `${gave}: undo both together`
    case 'had-none':
      return `${gave}, it had none before, and no endpoint of the API clears one`
    case 'left':
      return `${gave}, and this undo leaves it as it is`
  }
}

function changedSinceText(params: NoticeParams['changed-since']): string {
  const { run } = params
  switch (params.how) {
    case 'missing':
      return 'is not in the directory any more'
    case 'shared-id':
      return 'several entries of the directory have this id: left as they are'
    case 'values':
      return `is ${valuesText(params.now)} now, and run ${run} ${params.did} ${valuesText(params.values)}`
    case 'name':
      return otherNameText(params, run)
    case 'created':
      return `run ${params.by} created it since: left as it is; dirsyncd undo ${params.by} is about it`
    case 'back':
      return `is there again after run ${params.by} deleted it: left as it is`
    case 'joined':
      return `is ${valuesText(params.now)} now, and run ${run} did not make it a member of "${params.group}"`
    case 'has-members':
      return `"${params.name}" has members since: ${named(params)}`
  }
}

function otherNameText(
  { now, did, name }: Extract<NoticeParams['changed-since'], { readonly how: 'name' }>,
  run: number,
): string {
  switch (did) {
    case 'created':
      return `is called "${now}" now, and run ${run} created it as "${name}"`
    case 'deleted':
      return `is there again as "${now}", and was "${name}"`
    case 'wrote':
      return `is called "${now}" now, and run ${run} wrote "${name}"`
  }
}

function notRestoredText(params: NoticeParams['not-restored']): string {
  const { run } = params
  switch (params.how) {
    case 'found-before':
      return `was there before run ${run} could create it, perhaps by another client: left as it is`
    case 'done-before':
      return `had this change before run ${run} could make it, perhaps by another client: left as it is`
    case 'group-missing':
      return 'is not in the directory any more, and gets no members back'
    case 'field-empty':
      return `had no ${fieldText(params.field)}, and no endpoint of the API clears one`
    case 'memberships':
      return `was a member of ${named(params)}: ${NO_MEMBERS}`
    case 'members':
      return `"${params.name}" had ${amount(params.members, 'member')}: ${NO_MEMBERS}`
    case 'other-members':
      return `"${params.name}" had other members: ${NO_MEMBERS}`
    case 'members-missing':
      return `"${params.name}" had members that are not in the directory: ${named(params)}`
  }
}

function valuesText(values: Parameters<typeof userText>[0]): string {
  const text = userText(values)
  return text === '' ? 'without name and e-mail' : text
}

/** Of members only their number, because a group may have thousands. */
function valueText(field: 'email' | 'name' | 'members', value: string | number | null): string {
  if (typeof value === 'number') return amount(value, 'member')
  const noun = field === 'members' ? 'members' : fieldText(field)
  return value === null ? `no ${noun}` : `the ${noun} ${inQuotes(value)}`
}
