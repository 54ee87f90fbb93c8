import { MAX_ENTRIES, MAX_RELAY_STATE, type Operation } from '../../api/contract/endpoints.ts'
import type { ProblemCode } from '../http/problem.ts'

/** In the order of the document. */
export const TAGS = {
  Directories: 'The external directories of the organization.',
  'Directory users': 'The external users of a directory.',
  'Directory groups': 'The external groups of a directory.',
  Subscriptions: 'What the contact that the token belongs to may open.',
  Events: 'The history of the organization.',
  Groups: 'The groups of the organization itself.',
} as const

export interface OperationText {
  readonly tag: keyof typeof TAGS
  readonly answer: string
  /** Markdown: what the API description leaves open. */
  readonly notes?: string
  /** Besides those that every request may get. */
  readonly problems?: readonly ProblemCode[]
}

const pageOf = (items: string): string => `One page of ${items}.`

const CREATE = `Takes one to ${MAX_ENTRIES} entries and creates all of them or none. If a value is not allowed,
the request fails, and \`errors\` names each such value, for example \`users[3].email\`.`

const WRITE_USER = `An e-mail address must be in one of the domains that the organization allows, ignoring case.
\`first_name\` and \`last_name\` cannot be written: \`last_name\` is the last word of \`name\`, \`first_name\` the words
before it.`

const MEMBERS = `\`external_member_ids\` is an extension of this service, because the description shows no endpoint that
writes members. It sets the whole list; without it the members stay. In a form \`external_member_ids[]=\` alone is the
empty list. The ids need not belong to existing users.`

export const OPERATIONS: { readonly [O in Operation]: OperationText } = {
  listDirectories: { tag: 'Directories', answer: pageOf('the directories, ordered by id') },
  getDirectory: { tag: 'Directories', answer: 'The directory.' },
  listUsers: {
    tag: 'Directory users',
    answer: pageOf('the users, ordered by id'),
    notes: 'A user that was created without an `external_id` has `null` in the list and no path of its own.',
  },
  createUsers: {
    tag: 'Directory users',
    answer: 'The users that were created, in the order in which they were sent.',
    notes: `${CREATE} An entry needs \`external_id\`,
\`email\` or \`name\`, because nobody could find another one.

In a form, begin each entry with the same field, best \`users[][external_id]\`: a field that the last entry already has
begins the next one. ${WRITE_USER} No answer shows \`employee_id\`.

An \`external_id\` that the directory already has, or that the request has twice, is refused with 409. \`.\` and \`..\`
are refused because the path of a URL cannot contain them.`,
    problems: ['external-id-taken'],
  },
  getUser: { tag: 'Directory users', answer: 'The user.' },
  updateUser: {
    tag: 'Directory users',
    answer: 'The user as it is now.',
    notes: `A field that is not sent stays as it is; no field can be cleared. ${WRITE_USER}`,
  },
  deleteUser: {
    tag: 'Directory users',
    answer: 'The user is deleted. No body.',
    notes: 'Also removes the user from the `external_member_ids` of all groups of the directory.',
  },
  listGroups: { tag: 'Directory groups', answer: pageOf('the groups, in the order of their creation') },
  createGroups: {
    tag: 'Directory groups',
    answer: 'The groups that were created, in the order in which they were sent.',
    notes: `${CREATE}

An \`external_id\` that the directory already has, or that the request has twice, is refused with 409. ${MEMBERS}`,
    problems: ['external-id-taken'],
  },
  getGroup: { tag: 'Directory groups', answer: 'The group.' },
  deleteGroup: { tag: 'Directory groups', answer: 'The group is deleted; the users in it stay. No body.' },
  updateGroup: { tag: 'Directory groups', answer: 'The group as it is now.', notes: MEMBERS },
  listSubscriptions: {
    tag: 'Subscriptions',
    answer: pageOf('the subscriptions, ordered by id, without `subscriber`'),
    notes: `With \`all=true\` one page holds the whole list: \`per-page\` is the length of the list, and there is no
\`link\`. The list is ordered by id; a client may sort by \`position\`.`,
  },
  getSubscription: {
    tag: 'Subscriptions',
    answer: 'The subscription with its subscriber.',
    notes: 'A subscription of another contact is answered with 404, like one that does not exist.',
  },
  updateSubscription: {
    tag: 'Subscriptions',
    answer: 'The subscription as it is now, without `subscriber`.',
    notes: 'A field that is not sent stays as it is. The API description does not name the scope `USER`.',
  },
  createAssertion: {
    tag: 'Subscriptions',
    answer: 'The signed response and where to post it.',
    notes: `The description shows no answer; this one has what an IdP-initiated login needs. Post a form with
\`SAMLResponse\` (\`saml_response\`) and, if there is one, \`RelayState\` (\`relay_state\`) to \`acs_url\`. The response
and its one assertion are both signed (RSA-SHA256), name the installation's service provider as their only audience, and
expire at \`expires_at\`, after five minutes. Set the service provider up with \`metadata\`, or with \`issuer\` and
\`certificate\`, which stay the same for an organization.

The name id is the e-mail address of the contact or the login of the subscription, as the installation is configured;
the attributes are \`email\`, \`first_name\`, \`last_name\` and \`name\`. The answer repeats \`RelayState\`, which may
have ${MAX_RELAY_STATE} bytes. The answer is 409 for a vault item, for a provider without \`has_saml\` and for an
installation that is not set up for SAML. Making an assertion is an event and counts as a login.`,
    problems: ['not-supported'],
  },
  readCredentials: {
    tag: 'Subscriptions',
    answer:
      'The values by name: `login` and `password` for an app, the names of its own values for a vault item.',
    notes: `Only for the contact who owns the subscription, and only where \`permissions.can_view_password\` is true
(403 otherwise). The store holds the values encrypted. Every read is an event; the answer is sent only after the event
is committed.`,
    problems: ['not-permitted'],
  },
  resetPassword: {
    tag: 'Subscriptions',
    answer: 'The subscription with the strength of its new password.',
    notes: `The service generates a password of 20 random characters; the answer does not show it, read it with #17.
The login stays. 403 where \`permissions.can_reset_password\` is false; 409 for a vault item, and where the provider
lacks \`has_password_reset\`. The API description does not name the scope \`USER\`.`,
    problems: ['not-permitted', 'not-supported'],
  },
  listEvents: {
    tag: 'Events',
    answer: pageOf('the events, newest first'),
    notes: `An event must match every given filter. An empty filter counts as not given, an unknown one is refused with
400. A range includes both ends; one that can hold nothing, such as a \`time_from\` later than \`time_to\`, is refused
with 422. In a query a \`+\` is a blank: send the offset of a time as \`%2B00:00\`.

The service writes events of these types; an imported history may hold others:

| type | operation | subject |
| --- | --- | --- |
| \`create_directory_user\`, \`update_directory_user\`, \`delete_directory_user\` | \`create\`, \`update\`, \`delete\` | the user |
| \`create_directory_group\`, \`update_directory_group\`, \`delete_directory_group\` | \`create\`, \`update\`, \`delete\` | the group |
| \`update_subscription\` | \`update\` | the subscription |
| \`read_credentials\` | \`read\` | the subscription |
| \`reset_password\` | \`update\` | the subscription |
| \`create_assertion\` | \`create\` | the subscription |

The actor is the contact that the token belongs to. A change and its event are committed together or not at all; an
update that changes nothing is no event.`,
    problems: ['value-not-allowed'],
  },
  listOrganizationGroups: {
    tag: 'Groups',
    answer: pageOf('the groups, ordered by id'),
    notes: '`q` is a part of the name, ignoring case; letters with and without accents differ.',
  },
  getOrganizationGroup: { tag: 'Groups', answer: 'The group.' },
}
