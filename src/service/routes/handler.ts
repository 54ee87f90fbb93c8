import type { z } from 'zod'
import type { endpoints, Operation } from '../../contract/endpoints.ts'
import type { Page, PageRequest } from '../paging.ts'
import type { Database } from '../store/database.ts'
import type { Grant } from '../store/tokens.ts'

/** What every handler works with. */
export interface HandlerDeps {
  readonly db: Database
  readonly uniqueExternalIds: boolean
}

/** One request after everything that the contract says about it was checked. */
export interface Call<O extends Operation> {
  readonly grant: Grant
  readonly organizationId: number
  /** 0, which no directory has, where the path names none. */
  readonly directoryId: number
  /** Empty where the path names none. */
  readonly externalId: string
  /** The first page where the endpoint is not paged. */
  readonly page: PageRequest
  readonly form: FormOf<O>
}

/** What the form holds: its fields, or the entries of its list. */
export type FormOf<O extends Operation> = (typeof endpoints)[O] extends { form: infer Form }
  ? Form extends { list: string; fields: infer Fields extends z.ZodType }
    ? readonly z.output<Fields>[]
    : Form extends { fields: infer Fields extends z.ZodType }
      ? z.output<Fields>
      : never
  : undefined

/** What the handler answers: the object of the contract, one page of its list, or nothing. */
export type Answer<O extends Operation> = (typeof endpoints)[O] extends { paged: true; response: infer List }
  ? List extends z.ZodArray<infer Item extends z.ZodType>
    ? Page<z.output<Item>>
    : never
  : (typeof endpoints)[O] extends { response: infer Body extends z.ZodType }
    ? z.output<Body>
    : undefined

/** Does the work of one operation and throws a `Problem` where it cannot. What it wrote is committed when it ends. */
export type Handler<O extends Operation> = (deps: HandlerDeps, call: Call<O>) => Promise<Answer<O>>
