import { charge, stepsOf } from './context.ts'
import { commonType, constant, type Expr, expr, noted } from './expr.ts'
import type { Site } from './site.ts'
import { choiceStep, type TraceStep } from './trace.ts'
import { isText, present, show, type Value } from './value.ts'

/** The first text that is not blank. Alternatives after the first one with a value are not evaluated. */
export function firstOf(source: string, alternatives: readonly Expr[]): Expr {
  return expr('text', source, alternatives, (context) => {
    charge(context, 1)
    for (const alternative of alternatives) {
      const value = firstPresent(alternative.evaluate(context))
      if (value === null) continue
      stepsOf(context)?.push(firstStep(alternatives, alternative, value))
      return value
    }
    stepsOf(context)?.push(firstStep(alternatives, undefined, null))
    return null
  })
}

function firstStep(alternatives: readonly Expr[], taken: Expr | undefined, value: Value): TraceStep {
  const skipped = alternatives.slice(0, taken && alternatives.indexOf(taken)).map(({ source }) => source)
  const without = skipped.length === 0 ? [] : [`${skipped.join(', ')} without a value`]
  if (taken === undefined) return choiceStep(`nothing taken: ${without.join()}`, undefined)
  return choiceStep([`${taken.source} taken: ${show(value)}`, ...without].join('; '), taken.source)
}

export function firstPresent(value: Value): string | null {
  if (typeof value !== 'object' || value === null) return isText(value) ? present(value) : null
  return value.find((text) => present(text) !== null) ?? null
}

/** Evaluates one of the alternatives. Without `no` there is no value where the condition is false. */
export function choice(site: Site, condition: Expr, yes: Expr, no = constant('none', 'null', null)): Expr {
  const type = commonType(yes.type, no.type)
  if (type === undefined) return site.fail('both alternatives must be of the same type')
  return expr(type, site.source, [condition, yes, no], (context) => {
    charge(context, 1)
    const decision = condition.evaluate(context) === true
    const { source, evaluate } = decision ? yes : no
    stepsOf(context)?.push(choiceStep(`${source} taken, because ${condition.source} is ${decision}`, source))
    return evaluate(context)
  })
}

/** `||` is decided by true, `&&` by false; then the right side is not evaluated. */
export function logic(source: string, decisive: boolean, left: Expr, right: Expr): Expr {
  return noted('bool', source, [left, right], (context) =>
    left.evaluate(context) === decisive ? decisive : right.evaluate(context),
  )
}
