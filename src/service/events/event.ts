/** The actor or the subject, as it was at that time. `email` is empty where there is none. */
export interface Party {
  readonly type: 'contact' | 'subscription' | 'directory_user' | 'directory_group' | 'group'
  readonly id: number
  readonly name: string
  readonly email: string
  /** With `externalId` it identifies a user or group of a directory. */
  readonly directoryId?: number
  readonly externalId?: string
}

export interface Origin {
  readonly organizationId: number
  readonly actor: Party
  /** As `IpAddress` has it. */
  readonly ip: string | null
  readonly at: Date
}

/** `type` and `operation` are those of the API, `description` is an English sentence. */
export interface NewEvent {
  readonly type: string
  readonly operation: 'create' | 'read' | 'update' | 'delete'
  readonly description: string
  readonly subject: Party | null
}

/** A user or group of a directory; a group has no e-mail. */
interface Entry {
  readonly id: number
  readonly external_id: string | null
  readonly name: string | null
  readonly email?: string | null
}

/** Shared by all events of one request about entries of a directory. */
export interface EntryContext {
  readonly actor: Party
  readonly kind: 'user' | 'group'
  readonly directory: { readonly id: number; readonly name: string }
}

const PAST_TENSE = { create: 'created', update: 'updated', delete: 'deleted' } as const

/** Of a created entry, of a deleted one as it was before, or of an updated one with its `changes`. */
export function entryEvent(
  { actor, kind, directory }: EntryContext,
  operation: keyof typeof PAST_TENSE,
  entry: Entry,
  changes: readonly string[] = [],
): NewEvent {
  const { id, name, external_id: externalId, email } = entry
  const what = `the ${kind} ${labelOf(entry)} in the directory ${directory.name}`
  const subject = {
    id,
    name: name ?? externalId ?? email ?? '',
    email: email ?? '',
    directoryId: directory.id,
  }
  return {
    type: `${operation}_directory_${kind}`,
    operation,
    description: `${actor.name} ${PAST_TENSE[operation]} ${what}${changes.length === 0 ? '' : `: ${changes.join(', ')}`}.`,
    subject: { type: `directory_${kind}`, ...subject, ...(externalId === null ? {} : { externalId }) },
  }
}

/** The names of the updated fields; a changed `name` comes with the previous name. */
export function entryChanges(fields: readonly string[], nameBefore: string | null): string[] {
  return fields.map((field) => {
    return field === 'name' && nameBefore !== null ? `name (before: ${nameBefore})` : field
  })
}

function labelOf({ id, name, external_id: externalId, email }: Entry): string {
  if (name !== null && externalId !== null) return `${name} (${externalId})`
  return name ?? externalId ?? email ?? `with the id ${id}`
}
