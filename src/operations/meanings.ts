import type { NoticeCode } from '../core/entries/snapshot.ts'
import type { DeleteReason } from '../core/plan/change.ts'

export const NOTICE_MEANINGS: Readonly<Record<NoticeCode, string>> = {
  unreadable: 'could not be understood, so nothing is deleted in this run',
  'duplicate-id': 'skipped, because the id is used more than once',
  'doubtful-text': 'seems to be in another encoding than the one it was read in',
  'no-name': 'skipped, because it has no name',
  'value-failed': 'has a value that the mapping could not compute, so it stays without that value',
  'unknown-members': 'has members that are not users of the sync, or is no group of the sync',
  'members-hidden': 'left as it is, because not all of its members could be read',
  disabled: 'cannot log in at the source, so the sync skips it or treats it as gone',
  unaddressable: 'is in the directory without an id, so it cannot be changed',
  'shared-id':
    'has its external id together with others in the directory, so none of them is ever deleted; no run is complete until only one of them is left',
  'email-not-allowed': 'skipped, because its e-mail is no address in an allowed domain',
  'email-dropped':
    'written without its e-mail, which is no address or not in an allowed domain; what the directory has stays',
  'no-email': 'has no e-mail address',
  'duplicate-email': 'shares its e-mail address with another user, who keeps it',
  'email-swap': 'exchanges its e-mail address with another user',
  'id-moved': 'seems to be another person than before',
  'new-id': 'seems to be a deleted person under a new id',
  'other-id-form': 'deleted by this plan, and perhaps never in the source, as its id is not like those there',
  'unknown-id': 'was asked for by its id, and is on neither side',
  excluded: 'left out by the lists of the sync; neither written nor deleted',
  protected: 'not deleted, because a list of the sync protects it',
  'value-kept': 'has a value in the directory that the source does not have; it was kept',
  'in-grace': 'absent, and deleted when it has been absent for long enough',
  unproved: 'waits, because the read does not prove it',
  reborn:
    'not created, because this sync deleted it within the last day; created after a good read a day later, or with dirsyncd approve',
  'members-kept': 'keeps its members, because it is not proved that they left',
  'seen-again': 'was missing in the first look and found in the second; not deleted',
  'kept-by-policy': 'kept as it is by the policy of the sync',
  'kept-unproved':
    'not deleted, because not every entry of the source could be understood; mend those, or leave them out of what is read',
  'membership-differs': 'has other members in the source; not written',
  quarantined:
    'in quarantine, because the service refused it; tried again when it changes, after a day, or after dirsyncd quarantine release; to accept it, leave the entry out (entries: exclude)',
  'does-not-converge':
    'was made twice without effect, so it is in quarantine; tried again when it changes, after a day, or after dirsyncd quarantine release',
  'changed-since': 'is not as the run left it, so what was changed since stays',
  'not-restored': 'cannot be put back, or not all of it',
  'read-back':
    'the first changes of their kind on this directory, read back before the rest was sent, are there as sent',
  rewritten: 'is not shown as it was sent, because the service cuts, changes or does not store such values',
  'shorter-lists':
    'did not go as it should when entries were created several in one request; where this comes again, set directory.createBatch to a smaller number, or 1',
  'directory-incomplete': 'entries to create were there already',
  rejected: 'left alone until the change is another one, because a person rejected it',
}

/** Follows the name of the deleted entry. */
export const DELETE_REASONS: Readonly<Record<DeleteReason, string>> = {
  gone: 'not in the source any more, or not in what the sync reads of it',
  'left-filter': "outside the sync's filter",
  disabled: 'disabled in the source',
  undone: 'as the run that is undone created it',
}
