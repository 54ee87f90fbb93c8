/** The package `@dirsyncd/client` (packages/client) is built from this file and what it imports. */
export { AccessManagementClient } from './client.ts'
export { ApiError, type ApiErrorKind, type Destination, isApiError } from './api-error.ts'
export { type AllPages, type ListPage, readAllPages, type ReadAllOptions } from './pages.ts'
export type {
  EachOptions,
  EventFilters,
  ListOptions,
  Page,
  ReadOptions,
  WriteOptions,
  Written,
} from './methods.ts'
export type { ClientLog, ClientOptions, Retries, SharedPause, Timeouts } from './options.ts'
export type { TokenLoader } from './token.ts'
export type { Operation, Scope } from '../contract/endpoints.ts'
export type { Event, EventParty } from '../contract/event.ts'
export type { Directory, ExternalGroup, ExternalUser, OrganizationGroup } from '../contract/resources.ts'
export type {
  Assertion,
  Configuration,
  Credentials,
  Installation,
  PasswordStrength,
  Provider,
  Subscriber,
  Subscription,
  SubscriptionWithSubscriber,
} from '../contract/subscription.ts'
