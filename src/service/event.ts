/** Who did something, or what it was done to, as it was then. `email` is empty where there is none. */
export interface Party {
  readonly type: 'contact' | 'subscription' | 'directory_user' | 'directory_group' | 'group'
  readonly id: number
  readonly name: string
  readonly email: string
}

/** Who made the request that an event comes from. */
export interface Origin {
  readonly organizationId: number
  /** A contact. */
  readonly actor: Party
  readonly ip: string
  readonly at: Date
}

/** What happened. `type` and `operation` are those of the API, `description` is an English sentence. */
export interface NewEvent {
  readonly type: string
  readonly operation: 'create' | 'read' | 'update' | 'delete'
  readonly description: string
  readonly subject: Party | null
}
