import type { SecretReader } from '../secrets/secret.ts'

/** Where a store is. The URL of a server holds no password. */
export type StoreConfig =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'postgres'; readonly url: string; readonly password: SecretReader | undefined }
