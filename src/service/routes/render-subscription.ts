import type {
  Installation,
  Provider,
  Subscriber,
  Subscription,
  SubscriptionWithSubscriber,
} from '../../contract/subscription.ts'
import { gradeOf } from '../password.ts'
import type { SubscriberRow, SubscriptionRow } from '../store/subscriptions.ts'
import { timestamp } from '../timestamp.ts'
import { splitPersonName } from '../values.ts'

/** A subscription as a list and the answers to changes show it. */
export function renderSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    created_at: timestamp(row.created_at),
    favorite: row.favorite,
    position: row.position,
    last_login: row.last_login === null ? null : timestamp(row.last_login),
    launch_url: row.launch_url,
    requires_mfa_code: row.requires_mfa_code,
    login: row.login,
    bookmarks: row.bookmarks,
    password_strength: row.password_strength,
    permissions: {
      can_view_password: row.can_view_password,
      can_reset_password: row.can_reset_password,
    },
    installation: renderInstallation(row),
  }
}

/** A subscription as its own endpoint shows it at the time `now`. */
export function renderWithSubscriber(row: SubscriberRow, now: Date): SubscriptionWithSubscriber {
  return { ...renderSubscription(row), subscriber: renderSubscriber(row, now) }
}

function renderInstallation(row: SubscriptionRow): Installation {
  return {
    id: row.installation_id,
    name: row.installation_name,
    slug: row.installation_slug,
    status: row.installation_status,
    created_at: timestamp(row.installation_created_at),
    labels: row.installation_labels,
    requires_mfa_code: row.installation_requires_mfa_code,
    ...(row.installation_icons === null ? {} : { icons: row.installation_icons }),
    provider: renderProvider(row),
    configuration: row.installation_configuration,
  }
}

function renderProvider(row: SubscriptionRow): Provider {
  return {
    id: row.provider_id,
    name: row.provider_name,
    slug: row.provider_slug,
    login_method: row.provider_login_method,
    launch_timeout: row.provider_launch_timeout,
    icons: row.provider_icons,
    capabilities: row.provider_capabilities,
  }
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
