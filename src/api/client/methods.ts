import type { z } from 'zod'
import type { endpoints, EXTERNAL_ID, Operation } from '../contract/endpoints.ts'
import type { Destination } from './api-error.ts'

/** Derived from the contract table: a new row there is a new method here. */
type Row<O extends Operation> = (typeof endpoints)[O]

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

type PathParams<O extends Operation> = {
  readonly [Name in PathNames<Row<O>['path']>]: Name extends typeof EXTERNAL_ID ? string : number
}

type QueryParams<O extends Operation> =
  Row<O> extends { readonly query: infer Q extends z.ZodObject } ? WithNumericIds<z.output<Q>> : unknown

/** The contract has the ids in a query as text. A caller passes numbers, as answers have them. */
type WithNumericIds<T> = {
  readonly [K in keyof T]: K extends `${string}_id` ? number | undefined : WithNumericIds<T[K]>
}

/** Path and query parameters, under the names of the API description. */
type Params<O extends Operation> = Flat<PathParams<O> & QueryParams<O>>

export type EventFilters = NonNullable<Params<'listEvents'>['filters']>

/** Flattens the intersection, so that an editor shows one object. Without parameters only `{}` fits. */
type Flat<T> = [keyof T] extends [never] ? Record<string, never> : { readonly [K in keyof T]: T[K] }

type BodyOf<O extends Operation> =
  Row<O> extends { readonly response: infer R extends z.ZodType } ? z.output<R> : undefined

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never

type Fields<O extends Operation> =
  Row<O> extends { readonly form: { readonly fields: infer F extends z.ZodObject } }
    ? ReadonlyFields<z.output<F>>
    : never

type ReadonlyFields<T> = {
  readonly [K in keyof T]: T[K] extends readonly unknown[] | undefined ? Readonly<T[K]> : T[K]
}

type FormContent<O extends Operation> =
  Row<O> extends { readonly form: { readonly list: string } } ? readonly Fields<O>[] : Fields<O>

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Also called for retries. */
  readonly onRequest?: (() => void) | undefined
  /**
   * After a 429: `wait` as long as the service asks (default for reads), or `throw` an `ApiError` of kind
   * `rate-limited` at once (default for writes). A request refused with 429 has done nothing.
   */
  readonly whenLimited?: 'wait' | 'throw' | undefined
}

export type ReadOptions = CallOptions

export interface ListOptions extends ReadOptions {
  /** From 1. */
  readonly page?: number | undefined
  /** Default 20, at most 100. */
  readonly perPage?: number | undefined
}

export interface EachOptions extends ReadOptions {
  /** Default 100, the maximum. */
  readonly perPage?: number | undefined
}

export interface WriteOptions<Found> extends CallOptions {
  /**
   * Checks whether the write was done; called after a lost answer, before each retry. Return a value if it was done:
   * the value becomes the result. Without `confirm` such a write is not retried and the error has `maybeDone`.
   */
  readonly confirm?: ((signal: AbortSignal | undefined) => Promise<Found | undefined>) | undefined
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** The items of the whole list, from the header `total`; `undefined` where it is missing or no number. */
  readonly total: number | undefined
  /**
   * The page size that the service used, from the header `per-page`; `undefined` if that is missing, 0 or no number.
   */
  readonly perPage: number | undefined
  /**
   * For the `ApiError` of `readAllPages` about a list that contradicts itself. It has no page number, so it is the same
   * for all pages of a list.
   */
  readonly destination: Destination
}

/**
 * `value` is the answer's body if it fits the contract, else `undefined`: the API description shows no body for most
 * writes, so any body is accepted. `requests` counts how often the write itself was sent. `found` is true if the answer
 * was lost and `confirm` found the write done; `value` is then what it returned.
 */
export type Written<Value, Found = never> =
  | {
      readonly found: false
      readonly value: Value | undefined
      readonly status: number
      readonly requests: number
    }
  | { readonly found: true; readonly value: Found; readonly status: undefined; readonly requests: number }

/** Extends every type that has no required field. */
type Nothing = { readonly [Name in never]: never }

/** The parameters may be left out if none is required. */
type WithParams<P, Options, Result> = Nothing extends P
  ? (params?: P, options?: Options) => Result
  : (params: P, options?: Options) => Result

type ReadMethod<O extends Operation> = WithParams<Params<O>, ReadOptions, Promise<BodyOf<O>>>

type ListMethod<O extends Operation> = WithParams<Params<O>, ListOptions, Promise<Page<ItemOf<BodyOf<O>>>>>

type WriteMethod<O extends Operation> = <Found = never>(
  params: Params<O>,
  options?: WriteOptions<Found>,
) => Promise<Written<BodyOf<O>, Found>>

type FormMethod<O extends Operation> = <Found = never>(
  params: Params<O>,
  form: FormContent<O>,
  options?: WriteOptions<Found>,
) => Promise<Written<BodyOf<O>, Found>>

/** A POST whose form has no required field. A PATCH always needs its form: without fields it changes nothing. */
type OptionalFormMethod<O extends Operation> = <Found = never>(
  params: Params<O>,
  form?: FormContent<O>,
  options?: WriteOptions<Found>,
) => Promise<Written<BodyOf<O>, Found>>

type MethodWithForm<O extends Operation> =
  Row<O> extends { readonly method: 'POST' }
    ? Nothing extends FormContent<O>
      ? OptionalFormMethod<O>
      : FormMethod<O>
    : FormMethod<O>

type Method<O extends Operation> =
  Row<O> extends { readonly method: 'GET' }
    ? Row<O> extends { readonly paged: object }
      ? ListMethod<O>
      : ReadMethod<O>
    : Row<O> extends { readonly form: unknown }
      ? MethodWithForm<O>
      : WriteMethod<O>

export type Methods = { readonly [O in Operation]: Method<O> }

export type PagedOperation = {
  [O in Operation]: Row<O> extends { readonly paged: object } ? O : never
}[Operation]

export type Iterators = {
  readonly [O in PagedOperation]: WithParams<
    Params<O>,
    EachOptions,
    AsyncGenerator<ItemOf<BodyOf<O>>, void, void>
  >
}
