import type { Viewer } from '../access.ts'
import { html, type Html } from './html.ts'

/** The cookie that remembers the name of somebody who does not have to sign in. */
export const NAME_COOKIE = 'dirsyncd-name'

/** Asks who decides, where that is not known; `known` is the name that this browser gave before. */
export function nameField({ user }: Viewer, known: string | undefined): Html {
  if (user !== undefined) return html`<p>Recorded as done by <bdi>${user}</bdi>.</p>`
  return html`<label
    ><span>Your name, for the record</span
    ><input name="by" value="${known ?? ''}" required maxlength="100" autocomplete="username"
  /></label>`
}
