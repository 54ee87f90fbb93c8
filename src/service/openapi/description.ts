import { MAX_ENTRIES, PAGE } from '../../contract/endpoints.ts'
import { MAX_DEVICE_ID } from '../http/authenticate.ts'

/**
 * What holds for the whole API, as Markdown: above all what the API description leaves open and this service decided.
 * What concerns one operation stands with the operation.
 */
export const DESCRIPTION = `
The service manages access to applications for an organization: external directories with their users and groups, the
application subscriptions of the current user, the history of events, and the organization's groups. Everything is below
\`/api/v2/organizations/{organization_id}\`; answers are JSON in UTF-8.

Where the API description leaves something open, this document says what this service does. Unknown fields of a body and
unknown parameters of a query are ignored; a client should ignore unknown fields of an answer.

## Tokens, scopes and the device

- Every request carries \`Authorization: token <ACCESS_TOKEN>\` and \`X-Device-Id: <DEVICE_ID>\`, a text of 1 to
  ${MAX_DEVICE_ID} characters that the client chooses. Without a usable device id the answer is 400.
- A token belongs to one contact of one organization, has an expiry and a list of scopes. The operator of the service makes
  it; the API has no endpoint for that.
- There are four scopes: \`ORG_READ\` and \`ORG\` read and change administrative data, \`USER_READ\` and \`USER\` read and
  change the data of the token's own contact. **No scope implies another**: a token that is to read and write has both.
- \`x-token-expires-in\` is the number of whole seconds that the token is still valid. Every answer to a valid token has it.
- The checks come in this order: the token (401), the device id (400), the scope (403), the organization (404), the body and
  the query, the resource.

## Forms and JSON

A body is \`application/x-www-form-urlencoded\`, as the description shows, or \`application/json\` with the same names; anything
else is 415. In a form:

- \`users[][external_id]=a&users[][email]=b\` is a list of entries, as in Rack and Rails: a field that the last entry has
  already begins the next entry. So send the same field first in each entry, best \`external_id\`: otherwise one person may get
  the next one's e-mail address.
- \`external_member_ids[]=a&external_member_ids[]=b\` is a list of values; \`external_member_ids[]=\` alone is the empty list.
- A boolean is \`true\` or \`false\` (\`1\` and \`0\` are understood), a number is written in decimal digits.

The query follows the same convention: \`filters[type]=…\`. A value that is not sent is not changed.

**Creating several at once** is all or nothing: a request creates one to ${MAX_ENTRIES} users or groups, or none of them.

## Pages

- \`per_page\` is ${PAGE.default} by default; above ${PAGE.max} is taken as ${PAGE.max} and below 1 as the default. \`page\` below 1 is taken as 1.
  What is not a whole number is 400.
- \`total\` and \`per-page\` are in the headers, and \`link\` where there is more than one page, with \`first\`, \`prev\`, \`next\`
  and \`last\`; the first page has no \`first\` and \`prev\`, the last page no \`next\` and \`last\`. The links are absolute and keep
  the other query parameters.
- A page past the end is an empty list with \`first\`, \`prev\` and \`last\`. When \`total\` divides evenly, the last page is full.
- Lists are ordered by id, so that what is created while somebody reads comes at the end; events are the other way round,
  the newest first.

## Times

Times in answers are ISO 8601 with milliseconds and a numeric offset from UTC: \`2026-01-31T08:15:00.000+00:00\`.

## Errors

Every error is \`application/problem+json\` (RFC 9457) with \`type\`, \`title\`, \`status\` and \`detail\`, and with \`errors\`, a list of
\`field\` and \`message\`, where fields are at fault. \`type\` is \`urn:access-management:problem:<code>\`; the codes are with each
operation.

- 400: the request cannot be understood. 422: it is understood, but a value is not allowed, such as an e-mail address outside
  the organization's domains or an empty name.
- **404 or 403**: what does not exist, what belongs to another organization, and a subscription of another contact are all 404, and
  cannot be told apart. 403 is for what the token can see and may not do: its scope is missing, or the subscription does not
  permit it (\`permissions\`).
- 409: an external id is taken, or the installation or its provider is not able to do what is asked for.
- 413, 414, 431: the body (over 16 MiB unless the operator sets another limit), the path, the query (over 3,000 characters) or the headers are too large.
- 408: the request did not arrive in time.
- 500 and 503: the service failed, or cannot work for now. Whether a change was made is not known then; read before sending it again.

## Rate limits

The operator of the service sets a limit, 10,000 requests in 10 seconds by default, for each token, and as many with a token that
is not valid for each address (for IPv6, each /64). What is above it is answered with 429 and \`Retry-After\`, in whole seconds.
Nothing was done then, so the same request may be sent again.

## Secrets

Passwords and the values of vault items are in the answer of #17 only, and nowhere else: no log, event or list has them. No answer may
be cached (\`Cache-Control: no-store\`).

## Extensions

- \`external_member_ids\` is accepted when a group of a directory is created (#9) and updated (#12). The description shows how
  members are read, and no way to write them.
- \`USER\` is the one scope that the description does not name.
- \`/healthz\` says whether the service works, \`/openapi.json\` is this document and \`/docs\` shows it; they need no token.
`.trim()
