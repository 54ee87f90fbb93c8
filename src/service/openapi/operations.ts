import { MAX_ENTRIES, MAX_RELAY_STATE, type Operation } from '../../contract/endpoints.ts'
import type { ProblemCode } from '../http/problem.ts'

/** The parts of the API with a sentence on each, in the order of the document. */
export const TAGS = {
  Directories: 'The external directories of the organization.',
  'Directory users': 'The external users of a directory.',
  'Directory groups': 'The external groups of a directory.',
  Subscriptions: 'What the contact that the token belongs to may open.',
  Events: 'The history of the organization.',
  Groups: 'The groups of the organization itself.',
} as const

/** What the document says about an operation besides its row in the contract. */
export interface OperationText {
  readonly tag: keyof typeof TAGS
  /** What comes back when all is well. */
  readonly answer: string
  /** Markdown: what the API description leaves open. */
  readonly notes?: string
  /** What it may be refused for, besides what every request may. */
  readonly problems?: readonly ProblemCode[]
}

const PAGE_OF = (items: string): string => `One page of ${items}.`

const CREATE = `Takes one to ${MAX_ENTRIES} entries. Either all of them are created or none: one that is not allowed refuses the request, and \`errors\` names each fault with its place, such as \`users[3].email\`.`

const WRITE_USER =
  'An e-mail address must be in one of the domains that the organization allows, compared without regard to case. `first_name` and `last_name` cannot be written: they are all but the last word of `name`, and its last word.'

const MEMBERS =
  '`external_member_ids` is an extension of this service, because the description shows no endpoint that writes members. It sets the whole list: left out, it changes nothing; in a form `external_member_ids[]=` alone is the empty list. The ids need not be those of users that exist.'

export const OPERATIONS: { readonly [O in Operation]: OperationText } = {
  listDirectories: { tag: 'Directories', answer: PAGE_OF('the directories, ordered by id') },
  getDirectory: { tag: 'Directories', answer: 'The directory.' },
  listUsers: {
    tag: 'Directory users',
    answer: PAGE_OF('the users, ordered by id'),
    notes:
      'A user that was created without an `external_id` is in the list with `null` and cannot be addressed.',
  },
  createUsers: {
    tag: 'Directory users',
    answer: 'The users that were created, in the order in which they were sent.',
    notes: `${CREATE}\n\nIn a form, begin each entry with the same field, best \`users[][external_id]\`: a field that the last entry has already begins the next one. ${WRITE_USER} No answer shows \`employee_id\`. An \`external_id\` that the directory has already, or that is there twice, is refused with 409; \`.\` and \`..\` are refused because no path can carry them.`,
    problems: ['external-id-taken'],
  },
  getUser: { tag: 'Directory users', answer: 'The user.' },
  updateUser: {
    tag: 'Directory users',
    answer: 'The user as it is now.',
    notes: `What is not sent stays as it is; nothing can be cleared. ${WRITE_USER}`,
  },
  deleteUser: {
    tag: 'Directory users',
    answer: 'The user is gone. No body.',
    notes: 'The user is taken out of the `external_member_ids` of all groups of the directory, too.',
  },
  listGroups: { tag: 'Directory groups', answer: PAGE_OF('the groups, in the order of their creation') },
  createGroups: {
    tag: 'Directory groups',
    answer: 'The groups that were created, in the order in which they were sent.',
    notes: `${CREATE}\n\nAn \`external_id\` that the directory has already, or that is there twice, is refused with 409. ${MEMBERS}`,
    problems: ['external-id-taken'],
  },
  getGroup: { tag: 'Directory groups', answer: 'The group.' },
  deleteGroup: { tag: 'Directory groups', answer: 'The group is gone, its members are not. No body.' },
  updateGroup: { tag: 'Directory groups', answer: 'The group as it is now.', notes: MEMBERS },
  listSubscriptions: {
    tag: 'Subscriptions',
    answer: PAGE_OF('the subscriptions, ordered by id, without `subscriber`'),
    notes:
      'With `all=true` the one page holds everything: `per-page` is as large as the list, and there is no `link`. The list is ordered by id; `position` is for the client to sort by.',
  },
  getSubscription: {
    tag: 'Subscriptions',
    answer: 'The subscription with its subscriber.',
    notes: 'A subscription of another contact is answered with 404, like one that does not exist.',
  },
  updateSubscription: {
    tag: 'Subscriptions',
    answer: 'The subscription as it is now, without `subscriber`.',
    notes: 'What is not sent stays as it is. The scope `USER` is one that the API description does not name.',
  },
  createAssertion: {
    tag: 'Subscriptions',
    answer: 'The signed response and where to post it.',
    notes: `The description shows no answer; this is what a login that begins here takes. Post a form with \`SAMLResponse\` (\`saml_response\`) and, if there is one, \`RelayState\` (\`relay_state\`) to \`acs_url\`. The response and its one assertion are both signed (RSA-SHA256), are meant for the installation's service provider alone, and are refused after \`expires_at\`, five minutes later. Set the service provider up with \`metadata\`, or with \`issuer\` and \`certificate\`, which stay the same for an organization.

The name id is the e-mail address of the contact or the login of the subscription, as the installation is configured; the attributes are \`email\`, \`first_name\`, \`last_name\` and \`name\`. \`RelayState\` is passed through as it is and may have ${MAX_RELAY_STATE} bytes. A vault item, a provider without \`has_saml\` and an installation that is not set up for SAML are answered with 409. Making an assertion is an event and counts as a login.`,
    problems: ['not-supported'],
  },
  readCredentials: {
    tag: 'Subscriptions',
    answer: 'The values by name: `login` and `password` of an app, the own property names of a vault item.',
    notes:
      'Only for the contact who owns the subscription, and only where `permissions.can_view_password` is true (403 otherwise). Values are encrypted where they are kept. Every reading is an event, written together with it: without the event there is no answer.',
    problems: ['not-permitted'],
  },
  resetPassword: {
    tag: 'Subscriptions',
    answer: 'The subscription with the strength of its new password.',
    notes:
      'The service generates the password, 20 random characters; it is not in the answer, read it with #17. The login stays. 403 where `permissions.can_reset_password` is false; 409 for a vault item, and where the provider lacks `has_password_reset`. The scope `USER` is one that the API description does not name.',
    problems: ['not-permitted', 'not-supported'],
  },
  listEvents: {
    tag: 'Events',
    answer: PAGE_OF('the events, newest first'),
    notes: `All filters that are given must hold; an empty one is not given, and one that is not known is refused with 400. Both ends of a range belong to it. A range that can hold nothing, such as a \`time_from\` later than \`time_to\`, is refused with 422. In a query a \`+\` is a blank: send the offset of a time as \`%2B00:00\`.

The service writes events of these types, beside whatever the history held before:

| type | operation | subject |
| --- | --- | --- |
| \`create_directory_user\`, \`update_directory_user\`, \`delete_directory_user\` | \`create\`, \`update\`, \`delete\` | the user |
| \`create_directory_group\`, \`update_directory_group\`, \`delete_directory_group\` | \`create\`, \`update\`, \`delete\` | the group |
| \`update_subscription\` | \`update\` | the subscription |
| \`read_credentials\` | \`read\` | the subscription |
| \`reset_password\` | \`update\` | the subscription |
| \`create_assertion\` | \`create\` | the subscription |

The actor is the contact that the token belongs to. An event and what it tells of are written together, so that neither is there without the other; an update that changes nothing is no event.`,
    problems: ['value-not-allowed'],
  },
  listOrganizationGroups: {
    tag: 'Groups',
    answer: PAGE_OF('the groups, ordered by id'),
    notes:
      '`q` is a part of the name, compared without regard to case; letters with accents are other letters.',
  },
  getOrganizationGroup: { tag: 'Groups', answer: 'The group.' },
}
