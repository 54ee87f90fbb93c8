/** Where the SAML assertions of an installation go. */
export interface ServiceProvider {
  readonly entityId: string
  /** The assertion consumer service, HTTP-POST binding. */
  readonly acsUrl: string
  /** What the subject's name id is: the contact's e-mail, or the login of the subscription. */
  readonly nameId: 'email' | 'login'
}
