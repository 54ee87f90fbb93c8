import { MAX_ENTRIES, PAGE } from '../../api/contract/endpoints.ts'
import { MAX_DEVICE_ID } from '../http/authenticate.ts'

/**
 * What holds for the whole API, as Markdown: above all the decisions of this service where the API description is
 * silent. Notes on one operation are in `OPERATIONS`.
 */
export const DESCRIPTION = `
The service manages access to applications for an organization: external directories with their users and groups, the
application subscriptions of the current user, the history of events, and the organization's groups. Every path begins
with \`/api/v2/organizations/{organization_id}\`; answers are JSON in UTF-8.

Where the API description is silent, this document says what this service does. Unknown fields of a body and unknown
parameters of a query are ignored; a client should ignore unknown fields of an answer.

## Tokens, scopes and the device

- Every request carries \`Authorization: token <ACCESS_TOKEN>\` and \`X-Device-Id: <DEVICE_ID>\`, a text of 1 to
  ${MAX_DEVICE_ID} characters that the client chooses. Without a usable device id the answer is 400.
- A token belongs to one contact of one organization, has an expiry and a list of scopes. The operator of the service
  makes it; the API has no endpoint for that.
- There are four scopes: \`ORG_READ\` and \`ORG\` read and change administrative data, \`USER_READ\` and \`USER\` read
  and change the data of the token's own contact. **No scope implies another**: a token that is to read and write needs
  both.
- \`x-token-expires-in\` is the number of whole seconds for which the token is still valid. Every answer to a valid
  token has it, except 429 above the rate limit.
- The service checks in this order: the rate limit (429), the token (401), the device id (400), the scope (403), the
  organization (404), the body and the query, the resource.

## Forms and JSON

A body is \`application/x-www-form-urlencoded\`, as in the description, or \`application/json\` with the same names; the
answer to any other type, to a charset other than UTF-8, and to a body with a \`Content-Encoding\`, is 415. In a form:

- \`users[][external_id]=a&users[][email]=b\` is a list of entries, as in Rack and Rails: a field that the last entry
  already has begins the next entry. So begin each entry with the same field, best \`external_id\`: otherwise one person
  may get the next one's e-mail address.
- \`external_member_ids[]=a&external_member_ids[]=b\` is a list of values; \`external_member_ids[]=\` alone is the empty
  list.
- One name used in two ways (\`name=a&name[b]=c\`) is refused with 400; a name that comes twice has its last value.
- A boolean is \`true\` or \`false\` (\`1\` and \`0\` work, too), a number is written in decimal digits.

The query follows the same convention: \`filters[type]=…\`. A value that is not sent is not changed.

**A request that creates several entries** creates all of them or none; it takes one to ${MAX_ENTRIES} users or groups.

## Pages

- \`per_page\` is ${PAGE.default} by default; a number above ${PAGE.max} is taken as ${PAGE.max}, one below 1 as the
  default. \`page\` below 1 is taken as 1. A value that is not a whole number is answered with 400.
- \`total\` and \`per-page\` are in the headers, and \`link\` where there is more than one page, with \`first\`,
  \`prev\`, \`next\` and \`last\`; the first page has no \`first\` and \`prev\`, the last page no \`next\` and
  \`last\`. The links are absolute and keep the other query parameters.
- A page past the end is an empty list with \`first\`, \`prev\` and \`last\`. When \`total\` divides evenly, the last
  page is full.
- Lists are ordered by id, so that an item created while a client reads comes at the end. Events are in the opposite
  order, the newest first.

## Times

Times in answers are ISO 8601 with milliseconds and a numeric offset from UTC: \`2026-01-31T08:15:00.000+00:00\`.

## Errors

Every error is \`application/problem+json\` (RFC 9457) with \`type\`, \`title\`, \`status\` and \`detail\`; where fields
are wrong, \`errors\` lists them with \`field\` and \`message\`. \`type\` is \`urn:access-management:problem:<code>\`;
each operation lists its codes.

- 400: the request cannot be understood. 422: it is understood, but a value is not allowed, such as an e-mail address
  outside the organization's domains or an empty name.
- **404 or 403**: a resource that does not exist, belongs to another organization, or is a subscription of another
  contact is always 404, so that a client cannot tell these cases apart. 403 is for a visible resource that the token
  may not use: the scope is missing, or the subscription does not permit it (\`permissions\`).
- 409: an external id is taken, or the installation or its provider cannot do what the request wants.
- 413, 414, 431: the body, the path, the query (over 3,000 characters) or the headers are too large. A body may have 64
  KiB; where lists are written (#4, #9, #12) 1 MiB, and as a form of #9 and #12, which may have the members of a very
  large group, 16 MiB and 250,000 fields.
- 405: the path has no such method; \`Allow\` names those that it has. \`HEAD\` works where \`GET\` does.
- 408: the request did not arrive in time.
- 500 and 503: the service failed, or cannot work for now. It may have made the change or not: read before sending the
  request again.

## Rate limits

The operator of the service sets a limit, 10,000 requests in 10 seconds by default: for each token, and, for each
address (for IPv6, each /64), for the requests without a valid token. Above the limit the answer is 429 with
\`Retry-After\` in whole seconds. Such a request changed nothing, so a client may send it again.
Independently, a contact may read credentials (#17) 60 times in a minute.

## Secrets

Only the answer of #17 has passwords and the values of vault items; no log, event or list has them. No answer may be
cached (\`Cache-Control: no-store\`).

## Extensions

- Creating (#9) and updating (#12) a group of a directory accept \`external_member_ids\`. The description shows how to
  read members, and no way to write them.
- \`USER\` is the one scope that the description does not name.
- \`/healthz\` says whether the service works, \`/openapi.json\` is this document and \`/docs\` shows it; they need no
  token.
`.trim()
