import { html } from './html.ts'
import type { Page } from './layout.ts'

/** `to` is the page that was asked for. */
export function signInPage(to: string, problem?: string): Page {
  const body = html`<h1>Sign in</h1>
    ${problem !== undefined && html`<p class="box bad" role="alert">${problem}</p>`}
    <form class="stacked" method="post" action="/sign-in">
      <input type="hidden" name="to" value="${encodeURIComponent(to)}" />
      <label
        ><span>Your name, for the record of what you decide</span
        ><input name="user" required maxlength="100" autocomplete="username"
      /></label>
      <label
        ><span
          >Token (that of <code>admin.token</code>; without this option, it is in the file
          <code>admin-token</code> of <code>dataDir</code>)</span
        ><input type="password" name="token" required autocomplete="current-password"
      /></label>
      <button class="main">Sign in</button>
    </form>`
  return { title: 'Sign in', body }
}
