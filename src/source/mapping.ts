import { addressFault, isInDomains } from '../core/entries/normalize.ts'
import { digits } from '../base/wording.ts'
import { sentence } from '../base/errors.ts'
import { compileAttribute, type NameCheck } from './mapping/attribute.ts'
import { begin, type Context, createContext, Fault, type Lookup, type Rank } from './mapping/context.ts'
import type { Expr } from './mapping/expr.ts'
import { compileValue, type ValueExpression } from './mapping/shorthand.ts'
import type { TraceStep } from './mapping/trace.ts'
import { show } from './mapping/value.ts'

export { compileAttribute, type Lookup, type NameCheck, type TraceStep, type ValueExpression }

/** `external_id` is always exactly one attribute; an id is never composed or chosen from several. */
export interface UserMap {
  readonly external_id: string
  readonly email?: ValueExpression
  readonly name?: ValueExpression
  readonly employee_id?: ValueExpression
}

export interface GroupMap {
  readonly external_id: string
  readonly name: ValueExpression
  readonly members?: string | readonly string[]
}

export interface ValueMapping {
  readonly attributes: readonly string[]
  /**
   * The trimmed value for an entry; `undefined` when it is missing or blank. Never throws: a value that cannot be
   * computed is missing, and `onFault` gets the reason in a sentence that begins with the key.
   */
  valueOf(lookup: Lookup, onFault?: (detail: string) => void): string | undefined
  /** The same value, step by step; the last step is the result. Never throws. */
  trace(lookup: Lookup): readonly TraceStep[]
}

export interface UserFields {
  readonly email: string | undefined
  readonly name: string | undefined
  readonly employeeId: string | undefined
  /** One sentence for each value that could not be computed; it begins with the key. */
  readonly faults: readonly string[]
}

export interface GroupFields {
  readonly name: string | undefined
  readonly faults: readonly string[]
}

export interface UserMapping {
  readonly id: string
  readonly email: ValueMapping
  readonly name: ValueMapping
  readonly employeeId: ValueMapping
  /** Every attribute that the mapping needs, without duplicates. */
  readonly attributes: readonly string[]
  fieldsOf(lookup: Lookup): UserFields
}

export interface GroupMapping {
  readonly id: string
  readonly name: ValueMapping
  readonly members: readonly string[]
  readonly attributes: readonly string[]
  fieldsOf(lookup: Lookup): GroupFields
}

const NO_FAULTS: readonly string[] = []

/** In characters; a longer name or address is text that got into the wrong attribute. */
const LONGEST = 1_024

const UNMAPPED: ValueMapping = {
  attributes: [],
  valueOf: () => undefined,
  trace: () => [{ kind: 'result', text: 'not mapped', value: undefined }],
}

/**
 * Of several values of an attribute, `email` prefers an address, in `allowedDomains` where there are some. Throws
 * `config-invalid` with a sentence that begins with the key, such as `users.map.name: unclosed "{"`.
 */
export function compileUserMap(
  map: UserMap,
  key: string,
  check: NameCheck,
  allowedDomains: readonly string[] = [],
): UserMapping {
  const id = compileAttribute(map.external_id, `${key}.external_id`, check)
  const rankOf = (value: string) => emailRank(value, allowedDomains)
  const email = compileMapping(map.email, `${key}.email`, check, rankOf)
  const name = compileMapping(map.name, `${key}.name`, check)
  const employeeId = compileMapping(map.employee_id, `${key}.employee_id`, check)
  const attributes = distinct([id], email.attributes, name.attributes, employeeId.attributes)
  return {
    id,
    email,
    name,
    employeeId,
    attributes,
    fieldsOf(lookup) {
      let faults = NO_FAULTS
      const onFault = (detail: string) => (faults = [...faults, detail])
      return {
        email: email.valueOf(lookup, onFault),
        name: name.valueOf(lookup, onFault),
        employeeId: employeeId.valueOf(lookup, onFault),
        faults,
      }
    },
  }
}

/** An expression may make an address of a value in an allowed domain, such as `SMTP:anna@example.org`. */
function emailRank(value: string, allowedDomains: readonly string[]): number {
  if (addressFault(value, allowedDomains) === undefined) return 2
  return isInDomains(value, allowedDomains) ? 1 : 0
}

/** Throws like `compileUserMap`. */
export function compileGroupMap(map: GroupMap, key: string, check: NameCheck): GroupMapping {
  const id = compileAttribute(map.external_id, `${key}.external_id`, check)
  const name = compileMapping(map.name, `${key}.name`, check)
  const members = [map.members ?? []].flat().map((each) => compileAttribute(each, `${key}.members`, check))
  const attributes = distinct([id], name.attributes, members)
  return {
    id,
    name,
    members,
    attributes,
    fieldsOf(lookup) {
      let faults = NO_FAULTS
      const onFault = (detail: string) => (faults = [...faults, detail])
      return { name: name.valueOf(lookup, onFault), faults }
    },
  }
}

function compileMapping(
  expression: ValueExpression | undefined,
  key: string,
  check: NameCheck,
  rankOf?: Rank,
): ValueMapping {
  if (expression === undefined) return UNMAPPED
  const expr = compileValue(expression, key, check)
  const context = createContext(rankOf)
  return {
    attributes: distinct(expr.attributes),
    valueOf(lookup, onFault) {
      try {
        return resultOf(expr, begin(context, lookup))
      } catch (error) {
        onFault?.(`${key}: ${faultReason(error)}`)
        return undefined
      }
    },
    trace(lookup) {
      const steps: TraceStep[] = []
      let value: string | undefined
      try {
        value = resultOf(expr, begin(createContext(rankOf, steps), lookup))
      } catch (error) {
        steps.push({ kind: 'fault', text: `stopped: ${faultReason(error)}` })
      }
      steps.push({ kind: 'result', text: `result: ${show(value ?? null)}`, value })
      return steps
    },
  }
}

function resultOf(expr: Expr, context: Context): string | undefined {
  const value = expr.evaluate(context)
  if (typeof value !== 'string' || value === '') return undefined
  if (value.includes('\0')) throw new Fault('it holds a NUL character')
  if (!value.isWellFormed()) throw new Fault('it is not well-formed Unicode')
  if (value.length > LONGEST)
    throw new Fault(`it has ${digits(value.length)} characters; the limit is ${digits(LONGEST)}`)
  return value
}

/** Any error concerns only this value of this entry, so it never ends a run. */
function faultReason(error: unknown): string {
  return error instanceof Fault ? error.message : `it could not be computed (${sentence(error)})`
}

function distinct(...lists: (readonly string[])[]): string[] {
  return [...new Set(lists.flat())]
}
