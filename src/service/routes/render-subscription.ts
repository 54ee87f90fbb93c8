import type { z } from 'zod'
import {
  installation,
  provider,
  type Subscriber,
  type Subscription,
  subscription,
  type SubscriptionWithSubscriber,
} from '../../api/contract/subscription.ts'
import { gradeOf } from '../password.ts'
import type { SubscriberRow, SubscriptionRow } from '../store/subscriptions.ts'
import { timestamp } from '../timestamp.ts'
import { splitPersonName } from '../values.ts'

/** As in a list and in answers to changes. */
export function renderSubscription(row: SubscriptionRow): Subscription {
  return {
    ...shown(subscription, row),
    installation: {
      ...shown(installation, { ...row.installation, created_at: new Date(row.installation.created_at) }),
      provider: shown(provider, row.provider),
    },
  }
}

/** The fields of the contract, with times in its form. Only icons may be left out. */
function shown<Schema extends z.ZodObject>({ shape }: Schema, row: object): z.output<Schema> {
  const values = row as Readonly<Record<string, unknown>>
  const fields = Object.keys(shape).flatMap((name) => {
    const value = values[name]
    if (value === undefined || (name === 'icons' && value === null)) return []
    return [[name, value instanceof Date ? timestamp(value) : value]]
  })
  return Object.fromEntries(fields) as z.output<Schema>
}

/** As its own endpoint shows it at the time `now`. */
export function renderWithSubscriber(row: SubscriberRow, now: Date): SubscriptionWithSubscriber {
  return { ...renderSubscription(row), subscriber: renderSubscriber(row, now) }
}

/** A contact that was never active shows its creation as last activity. Without an app the average score is 0. */
function renderSubscriber(row: SubscriberRow, now: Date): Subscriber {
  const { first, last } = splitPersonName(row.contact_name)
  const lastActivity = row.contact_last_activity ?? row.contact_created_at
  const seconds = Math.floor((now.getTime() - lastActivity.getTime()) / 1000)
  const score = Math.round((row.average_score ?? 0) * 100) / 100
  return {
    id: row.contact_id,
    status: row.contact_status,
    first_name: first ?? '',
    last_name: last ?? '',
    name: row.contact_name,
    email: row.contact_email,
    created_at: timestamp(row.contact_created_at),
    last_activity: timestamp(lastActivity),
    // Another process's clock may be a little ahead.
    last_activity_in_seconds: Math.max(0, seconds),
    average_password_score: { grade: gradeOf(score), score },
  }
}
