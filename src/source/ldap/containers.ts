import type { UserTable } from '../../core/entries/user-table.ts'
import { dnKey } from './dn.ts'

type OriginParts = ReturnType<UserTable['originOf']>

/** The normal parent DN. Thousands of entries have one parent, which is normalized once. */
export class Containers {
  readonly #byText = new Map<string, string>()
  readonly #byPart = new Map<OriginParts['shared'], string>()

  of(dn: string): string {
    const comma = dn.indexOf(',')
    // The first comma may belong to the value of the first part.
    if (comma < 0 || mayEscape(dn.slice(0, comma))) return parentOf(dnKey(dn))
    const text = dn.slice(comma + 1)
    let container = this.#byText.get(text)
    if (container === undefined) this.#byText.set(text, (container = dnKey(text)))
    return container
  }

  /** As `of`, for the DN in the parts that a table keeps. */
  ofOrigin({ own, shared }: OriginParts): string {
    if (shared.isFirst || !shared.text.startsWith(',') || own.includes(',') || mayEscape(own))
      return this.of(shared.isFirst ? shared.text + own : own + shared.text)
    let container = this.#byPart.get(shared)
    if (container === undefined) this.#byPart.set(shared, (container = this.of(own + shared.text)))
    return container
  }
}

function mayEscape(text: string): boolean {
  return text.includes('\\') || text.includes('"')
}

function parentOf(normal: string): string {
  const comma = normal.indexOf(',')
  return comma < 0 ? '' : normal.slice(comma + 1)
}
