import type { SecretReader } from '../secrets/secret.ts'

/** The URL of a server holds no password. */
export type StoreConfig =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'postgres'; readonly url: string; readonly password: SecretReader | undefined }
