import type { Fate, OtherWrite, ServiceGroup, ServiceStart, ServiceUser, Step } from './story.ts'

/** A change as any decider sends it. */
export interface SentChange {
  readonly op: string
  readonly id: string
  readonly want?: unknown
}

export interface Outcome {
  readonly state: 'applied' | 'found' | 'already' | 'missing' | 'quarantined' | 'pending' | 'failed'
  readonly status: number
}

/** The service in RAM. */
export class Service {
  readonly users: Map<string, ServiceUser>
  readonly groups: Map<string, ServiceGroup>

  constructor({ users, groups }: ServiceStart) {
    this.users = new Map(users.map((user) => [user.id, user]))
    this.groups = new Map(groups.map((group) => [group.id, group]))
  }

  write(other: OtherWrite): void {
    if (other.does === 'put-user') this.users.set(other.user.id, other.user)
    else if (other.does === 'put-group') this.groups.set(other.group.id, other.group)
    else if (other.does === 'delete-user') this.#deleteUser(other.id)
    else this.#changeMember(other.group, other.user, other.does === 'add-member')
  }

  /** Does what a step says, and answers. */
  send(change: SentChange, fate: Fate | undefined): Outcome {
    if (fate === 'refused') return { state: 'quarantined', status: 422 }
    if (fate === 'busy') return { state: 'pending', status: 409 }
    if (fate === 'forgotten') return { state: 'applied', status: 200 }
    const outcome = this.#make(change)
    return fate === 'garbled' ? { state: 'failed', status: 200 } : outcome
  }

  #make({ op, id, want }: SentChange): Outcome {
    switch (op) {
      case 'create-user':
        return this.#createUser(id, want as Partial<ServiceUser>)
      case 'create-group':
        return this.#putGroup(id, (want as { name: string }).name)
      case 'update-user':
        return this.#updateUser(id, want as Partial<ServiceUser>)
      case 'update-group':
        return this.groups.has(id) ? this.#putGroup(id, (want as { name: string }).name) : MISSING
      case 'set-members':
        return this.#setMembers(id, want as readonly string[])
      case 'delete-user':
        return deleted(this.#deleteUser(id))
      case 'delete-group':
        return deleted(this.groups.delete(id))
      default:
        throw new Error(`the service has no ${op}`)
    }
  }

  #createUser(id: string, { name = null, email = null }: Partial<ServiceUser>): Outcome {
    const wasThere = this.users.has(id)
    this.users.set(id, { id, name, email })
    return { state: wasThere ? 'found' : 'applied', status: 201 }
  }

  #updateUser(id: string, want: Partial<ServiceUser>): Outcome {
    const user = this.users.get(id)
    if (user === undefined) return MISSING
    this.users.set(id, { ...user, ...want })
    return APPLIED
  }

  #putGroup(id: string, name: string): Outcome {
    this.groups.set(id, { id, name, members: this.groups.get(id)?.members ?? [] })
    return APPLIED
  }

  #setMembers(id: string, want: readonly string[]): Outcome {
    const group = this.groups.get(id)
    if (group === undefined) return MISSING
    this.groups.set(id, { ...group, members: want.filter((user) => this.users.has(user)) })
    return APPLIED
  }

  #changeMember(id: string, user: string, isAdded: boolean): void {
    const group = this.groups.get(id)
    if (group === undefined || !this.users.has(user)) return
    const others = group.members.filter((member) => member !== user)
    this.groups.set(id, { ...group, members: isAdded ? [...others, user].toSorted() : others })
  }

  #deleteUser(id: string): boolean {
    for (const group of this.groups.values()) this.#changeMember(group.id, id, false)
    return this.users.delete(id)
  }

  /** What the lists of the service show. */
  list({ listing }: Step): ServiceStart {
    const { hiddenUsers, hiddenGroups, empty } = listing
    return {
      users: empty.includes('user') ? [] : [...this.users.values()].filter(({ id }) => !hiddenUsers.has(id)),
      groups: empty.includes('group')
        ? []
        : [...this.groups.values()].filter(({ id }) => !hiddenGroups.has(id)),
    }
  }
}

const APPLIED: Outcome = { state: 'applied', status: 200 }

const MISSING: Outcome = { state: 'missing', status: 404 }

function deleted(wasThere: boolean): Outcome {
  return wasThere ? APPLIED : { state: 'already', status: 404 }
}
