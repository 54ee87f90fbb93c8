/** Words that no message uses: design.md has others for them. */
export const RETIRED =
  /\b(who|whom|whoever|person|people|somebody|someone|nobody|he|him|his|reader|believed?|findings?|breach|second look|last good|canary|strangers?)\b/i
