import type { Pool } from 'pg'
import type { z } from 'zod'
import type { endpoints, Operation } from '../../api/contract/endpoints.ts'
import type { Page, PageRequest } from '../http/paging.ts'
import type { RateLimiter } from '../http/rate-limiter.ts'
import type { Origin } from '../events/event.ts'
import type { Estimator } from '../password.ts'
import type { Database } from '../store/database.ts'
import type { Grant } from '../store/tokens.ts'
import type { Vault } from '../keys/vault.ts'

export interface HandlerDeps {
  readonly pool: Pool
  readonly db: Database
  readonly uniqueExternalIds: boolean
  readonly vault: Vault
  readonly estimate: Estimator
  /** Reads of credentials (#17), by contact. */
  readonly credentialReads: RateLimiter
}

/** Checked against the contract. */
export type Call<O extends Operation> = CommonCall<O> & PathValues<(typeof endpoints)[O]['path']>

interface CommonCall<O extends Operation> {
  readonly grant: Grant
  readonly organizationId: number
  readonly origin: Origin
  /** As clients see it, without a slash at the end. */
  readonly baseUrl: string
  /** The first page where the endpoint is not paged. */
  readonly page: PageRequest
  readonly query: QueryOf<O>
  readonly form: FormOf<O>
}

interface PathParameters {
  readonly directory_id: { readonly directoryId: number }
  readonly external_id: { readonly externalId: string }
  readonly subscription_id: { readonly subscriptionId: number }
  readonly group_id: { readonly groupId: number }
}

/** `{ directoryId, externalId }` for `/admin/directories/{directory_id}/users/{external_id}`. */
type PathValues<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends keyof PathParameters ? PathParameters[Name] : never) & PathValues<Rest>
  : unknown

export type QueryOf<O extends Operation> = (typeof endpoints)[O] extends { query: infer Q extends z.ZodType }
  ? z.output<Q>
  : undefined

export type FormOf<O extends Operation> = (typeof endpoints)[O] extends { form: infer Form }
  ? Form extends { list: string; fields: infer Fields extends z.ZodType }
    ? readonly z.output<Fields>[]
    : Form extends { fields: infer Fields extends z.ZodType }
      ? z.output<Fields>
      : never
  : undefined

/** The object of the contract, one page of its list, or nothing. */
export type ResponseOf<O extends Operation> = (typeof endpoints)[O] extends {
  paged: object
  response: infer List
}
  ? List extends z.ZodArray<infer Item extends z.ZodType>
    ? Page<z.output<Item>>
    : never
  : (typeof endpoints)[O] extends { response: infer Body extends z.ZodType }
    ? z.output<Body>
    : undefined

/** May throw a `Problem`. All its writes are committed when its promise resolves. */
export type Handler<O extends Operation> = (deps: HandlerDeps, call: Call<O>) => Promise<ResponseOf<O>>
