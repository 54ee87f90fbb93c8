import type { z } from 'zod'
import type { endpoints, Operation } from '../contract/endpoints.ts'
import type { Destination } from './api-error.ts'

/**
 * The types of the client's methods, derived from the contract table: a new row there is a new method here.
 */
type Row<O extends Operation> = (typeof endpoints)[O]

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** The path parameters of an endpoint, under the names of the API description. */
type Params<O extends Operation> = { readonly [Name in PathNames<Row<O>['path']>]: string | number }

/** The body of a successful answer, as the contract shows it. */
type Answer<O extends Operation> =
  Row<O> extends { readonly response: infer R extends z.ZodType } ? z.infer<R> : undefined

type Fields<O extends Operation> =
  Row<O> extends { readonly form: { readonly fields: infer F extends z.ZodObject } }
    ? Readonly<z.input<F>>
    : never

/** What the method takes as the form: the fields, or a list of entries. */
type FormContent<O extends Operation> =
  Row<O> extends { readonly form: { readonly list: string } } ? readonly Fields<O>[] : Fields<O>

export interface ReadOptions {
  readonly signal?: AbortSignal
  /** Called for each request that goes out, repetitions included. */
  readonly onRequest?: () => void
  /** What a 429 does: waits here (the default), or is an `ApiError` of kind `rate-limited` at once. */
  readonly whenLimited?: 'wait' | 'throw'
}

export interface ListOptions extends ReadOptions {
  /** From 1. */
  readonly page?: number
  readonly perPage?: number
}

export interface WriteOptions<Found> {
  readonly signal?: AbortSignal
  readonly onRequest?: () => void
  /**
   * Looks whether the write is already done; called before it is sent again after its answer was lost. A value means
   * that it is, and becomes the result. Without it a write whose answer was lost is not repeated: the error says
   * `maybeDone`.
   */
  readonly confirm?: (signal: AbortSignal | undefined) => Promise<Found | undefined>
}

/** One page of a list. The numbers are what the headers said, `undefined` where they said nothing sensible. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number | undefined
  readonly perPage: number | undefined
  /** What was asked, for errors about the content. */
  readonly destination: Destination
}

/**
 * The result of a write. `value` is the answer's body where it has the shape of the contract: the API description
 * shows none for most writes, so any body, or none, is a success too. `requests` counts the attempts of the write
 * itself.
 */
export type Written<Value, Found> =
  | {
      readonly found: false
      readonly value: Value | undefined
      readonly status: number
      readonly requests: number
    }
  | { readonly found: true; readonly value: Found; readonly status: undefined; readonly requests: number }

type ReadMethod<O extends Operation> = (params: Params<O>, options?: ReadOptions) => Promise<Answer<O>>

type ListMethod<O extends Operation> = (
  params: Params<O>,
  options?: ListOptions,
) => Promise<Page<ItemOf<Answer<O>>>>

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never

type FormMethod<O extends Operation> = <Found = never>(
  params: Params<O>,
  form: FormContent<O>,
  options?: WriteOptions<Found>,
) => Promise<Written<Answer<O>, Found>>

type WriteMethod<O extends Operation> = <Found = never>(
  params: Params<O>,
  options?: WriteOptions<Found>,
) => Promise<Written<Answer<O>, Found>>

type Method<O extends Operation> =
  Row<O> extends { readonly method: 'GET' }
    ? Row<O> extends { readonly paged: object }
      ? ListMethod<O>
      : ReadMethod<O>
    : Row<O> extends { readonly form: unknown }
      ? FormMethod<O>
      : WriteMethod<O>

/** One method for each endpoint of the contract. */
export type Methods = { readonly [O in Operation]: Method<O> }
