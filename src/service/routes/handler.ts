import type { z } from 'zod'
import type { endpoints, Operation } from '../../contract/endpoints.ts'
import type { Page, PageRequest } from '../http/paging.ts'
import type { Origin } from '../events/event.ts'
import type { Estimator } from '../password.ts'
import type { Database } from '../store/database.ts'
import type { Grant } from '../store/tokens.ts'
import type { Vault } from '../keys/vault.ts'

/** What every handler works with. */
export interface HandlerDeps {
  readonly db: Database
  readonly uniqueExternalIds: boolean
  readonly vault: Vault
  readonly estimate: Estimator
}

/** One request, checked against the contract. */
export interface Call<O extends Operation> {
  readonly grant: Grant
  readonly organizationId: number
  /** For the events that the request causes. */
  readonly origin: Origin
  /** The address of the service as its clients see it, without a slash at the end. */
  readonly baseUrl: string
  /** 0, the id of no directory, where the path has none. */
  readonly directoryId: number
  /** Empty where the path has none. */
  readonly externalId: string
  /** 0, the id of no subscription, where the path has none. */
  readonly subscriptionId: number
  /** 0, the id of no group, where the path has none. */
  readonly groupId: number
  /** The first page where the endpoint is not paged. */
  readonly page: PageRequest
  readonly query: QueryOf<O>
  readonly form: FormOf<O>
}

/** The query parameters besides those of the page. */
export type QueryOf<O extends Operation> = (typeof endpoints)[O] extends { query: infer Q extends z.ZodType }
  ? z.output<Q>
  : undefined

/** What the form holds: its fields, or the entries of its list. */
export type FormOf<O extends Operation> = (typeof endpoints)[O] extends { form: infer Form }
  ? Form extends { list: string; fields: infer Fields extends z.ZodType }
    ? readonly z.output<Fields>[]
    : Form extends { fields: infer Fields extends z.ZodType }
      ? z.output<Fields>
      : never
  : undefined

/** What the handler answers: the object of the contract, one page of its list, or nothing. */
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

/** Does the work of one operation, or throws a `Problem`. All its writes are committed when its promise resolves. */
export type Handler<O extends Operation> = (deps: HandlerDeps, call: Call<O>) => Promise<ResponseOf<O>>
