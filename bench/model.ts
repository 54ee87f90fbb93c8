import { PAGE } from '../src/api/contract/endpoints.ts'
import { CANARY_CHANGES } from '../src/core/plan/canary.ts'

/**
 * The cost model of docs/scale.md. The numbers of requests follow from the code; the constants of time and memory were
 * measured on two cores, with the service, PostgreSQL and Redis on the same machine.
 */
export const COST = {
  /** A run without changes, from LDAP. */
  run: { fixedMs: 50, microsPerUser: 12, fixedBytes: 215e6, bytesPerUser: 225 },
  /** A first fill, from CSV. */
  fill: {
    fixedMs: 700,
    /** To read, plan and store the plan. */
    planMicrosPerUser: 28,
    /** To send, and to write down what came of it, by the number of users in one request. */
    sendMicrosPerUser: { 1: 86, 100: 61 },
    fixedBytes: 220e6,
    bytesPerUser: 215,
  },
  /** The share of `rateLimit` that is used. */
  usedOfLimit: 0.98,
  ldapPage: 1000,
} as const

/** What the cost depends on, beside the number of users. */
export interface Circumstances {
  /** From a request to the end of its answer, beside the CPU that the daemon itself needs. */
  readonly latencyMs: number
  /** `rateLimit`, in requests a second. */
  readonly perSecond: number | undefined
  readonly readConcurrency: number
  readonly writeConcurrency: number
  /** The daemon, and each `dirsyncd worker`. */
  readonly processes: number
  readonly createBatch: 1 | 100
}

export const AT_ONCE: Circumstances = {
  latencyMs: 0,
  perSecond: undefined,
  readConcurrency: 4,
  writeConcurrency: 8,
  processes: 1,
  createBatch: 1,
}

/** All pages, and of a list of several pages the first and the last once more. */
function requestsOfList(entries: number): number {
  const pages = Math.max(1, Math.ceil(entries / PAGE.max))
  return pages === 1 ? 1 : pages + 2
}

/** The directory itself, its users and its groups. */
export function requestsOfRead(users: number, groups = 0): number {
  return 1 + requestsOfList(users) + requestsOfList(groups)
}

/** The empty directory is read, the first users are read back, and all are created. */
export function requestsOfFill(users: number, createBatch: number): number {
  return requestsOfRead(0) + Math.min(users, CANARY_CHANGES) + creationsOf(users, createBatch)
}

/** The first ones make a list of their own. */
function creationsOf(users: number, createBatch: number): number {
  const first = Math.min(users, CANARY_CHANGES)
  return Math.ceil(first / createBatch) + Math.ceil((users - first) / createBatch)
}

export function msOfRun(users: number, { latencyMs, perSecond, readConcurrency }: Circumstances): number {
  const { fixedMs, microsPerUser } = COST.run
  const requests = requestsOfRead(users)
  const cpu = (users * microsPerUser) / 1000
  const waiting = (requests * latencyMs) / readConcurrency
  return fixedMs + Math.max(cpu, waiting, limitMs(requests, perSecond))
}

export function msOfFill(users: number, circumstances: Circumstances): number {
  const { latencyMs, perSecond, writeConcurrency, processes, createBatch } = circumstances
  const { fixedMs, planMicrosPerUser, sendMicrosPerUser } = COST.fill
  const planning = (users * planMicrosPerUser) / 1000
  const cpu = (users * sendMicrosPerUser[createBatch]) / 1000
  const waiting = (creationsOf(users, createBatch) * latencyMs) / (writeConcurrency * processes)
  const limit = limitMs(requestsOfFill(users, createBatch), perSecond)
  return fixedMs + planning + Math.max(cpu, waiting, limit)
}

function limitMs(requests: number, perSecond: number | undefined): number {
  return perSecond === undefined ? 0 : (requests * 1000) / (perSecond * COST.usedOfLimit)
}

export function bytesOf(
  { fixedBytes, bytesPerUser }: typeof COST.run | typeof COST.fill,
  users: number,
): number {
  return fixedBytes + users * bytesPerUser
}
