import { everyInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import type { Kind } from './entries/entry.ts'

export const FIELDS = ['create', 'leave', 'delete', 'name', 'email', '+member', '-member'] as const
export type Field = (typeof FIELDS)[number]

/**
 * What an operator decides about: one value or membership of an entry, such as `user 42 email=ana@example.org` or
 * `group 7 +member 42`. An absent user has two keys: `leave` stands for all of it, `delete` for the request alone.
 *
 * @param value canonical: a name, an e-mail or the id of a member
 */
export type Key = readonly [kind: Kind, id: string, field: Field, value?: string]

/** Something true of a run that is no change, such as that its source is empty, with what it is true of. */
export type FactKey = readonly [kind: 'fact', name: string, value: string]

/** A key in the form in which it is stored and looked up. */
export function keyText(key: Key | FactKey): string {
  return JSON.stringify(key)
}

export function isMember(field: Field): field is '+member' | '-member' {
  return field === '+member' || field === '-member'
}

/** What a block of a delete names, so that nothing of it is done: of a user its `leave`. */
export function wholeOf(key: Key): Key {
  const [kind, id, field] = key
  return kind === 'user' && field === 'delete' ? [kind, id, 'leave'] : key
}

/** `keyText(wholeOf(key))` of the text of a key. */
export function wholeText(text: string): string {
  const key = text.endsWith(',"delete"]') ? parseKey(text) : undefined
  return key === undefined ? text : keyText(wholeOf(key))
}

/** `undefined` for each that was passed over: a step counts those, too, so that it stays short. */
export type Sparse<T> = Iterable<T | undefined>

/** Keys of one run; they are computed, because a fill has millions of them. */
export interface Keys {
  has(key: Key): boolean
  of(kind: Kind, field: Field): Sparse<Key>
}

/** The keys that a block names; of many only a test, and how to find them. */
export interface BlockedKeys extends Sparse<Key> {
  /** No key has another field. */
  readonly fields: ReadonlySet<Field>
  has(key: Key): boolean
}

export class KeySet implements BlockedKeys {
  readonly fields = new Set<Field>()
  readonly #keys = new Map<string, Key>()

  constructor(keys: Iterable<Key> = []) {
    for (const key of keys) this.add(key)
  }

  get size(): number {
    return this.#keys.size
  }

  add(key: Key): void {
    this.fields.add(key[2])
    this.#keys.set(keyText(key), key)
  }

  has(key: Key): boolean {
    return this.fields.has(key[2]) && this.#keys.has(keyText(key))
  }

  [Symbol.iterator](): Iterator<Key> {
    return this.#keys.values()
  }
}

/** The keys with these fields that pass a test, found when they are asked for. */
export function matching(
  keys: Keys,
  fields: readonly Field[],
  test: (key: Key) => boolean = () => true,
): BlockedKeys {
  const some = new Set(fields)
  return {
    fields: some,
    has: (key) => some.has(key[2]) && test(key) && keys.has(key),
    *[Symbol.iterator]() {
      for (const kind of ['user', 'group'] as const)
        for (const field of some)
          for (const key of keys.of(kind, field)) yield key !== undefined && test(key) ? key : undefined
    },
  }
}

/** Users before groups, in the order of the fields. */
export function* all(keys: Keys): Generator<Key | undefined, void> {
  for (const kind of ['user', 'group'] as const) for (const field of FIELDS) yield* keys.of(kind, field)
}

/** The key of an entry; `undefined` for a fact. */
export function parseKey(text: string): Key | undefined {
  const key = JSON.parse(text) as Key | FactKey
  return key[0] === 'fact' ? undefined : key
}

export function union(some: readonly BlockedKeys[]): BlockedKeys {
  return {
    fields: new Set(some.flatMap(({ fields }) => [...fields])),
    has: (key) => some.some((keys) => keys.has(key)),
    *[Symbol.iterator]() {
      for (const keys of some) yield* keys
    },
  }
}

export function isEmpty(keys: Sparse<Key>): Steps<boolean> {
  return everyInSteps(keys, (key) => key === undefined)
}

/** `forEachKey(keys, (key) => …)`, as `forEachInSteps`. */
export function forEachKey(keys: Sparse<Key>, visit: (key: Key) => void): Steps<void> {
  return forEachInSteps(keys, (key) => {
    if (key !== undefined) visit(key)
  })
}
