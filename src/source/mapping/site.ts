import type { ASTNode } from '@marcbachmann/cel-js'
import { type Expr, fits, type Type, TYPE_NAMES } from './expr.ts'

/** A node of the expression that is being compiled. */
export interface Site {
  /** As written in the configuration. */
  readonly source: string
  /** The item names of the list methods around this node, the outermost first. */
  readonly items: readonly string[]
  /** Compiles a node below this one, by default with the same items. */
  compile(node: ASTNode, items?: readonly string[]): Expr
  /** Trimmed; throws like `fail` when the source cannot have an attribute of this name. */
  attribute(name: string, node?: ASTNode): string
  /** Throws `config-invalid` with the key and the column, by default that of this node. */
  fail(problem: string, node?: ASTNode): never
}

/** `texts` is a text or a list, `any` any type. */
export type Wanted = Type | 'texts' | 'any'

/** Refuses an argument of another type. `what` begins the sentence, such as `the condition`. */
export function compileAs(site: Site, node: ASTNode, wanted: Type, what: string, items = site.items): Expr {
  const part = site.compile(node, items)
  if (fits(part.type, wanted)) return part
  const remedy = wanted === 'bool' && part.type === 'text' ? `; did you mean has(${part.source})?` : ''
  return site.fail(`${what} must be ${TYPE_NAMES[wanted]}, not ${TYPE_NAMES[part.type]}${remedy}`, node)
}
