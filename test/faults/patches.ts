/** A bug that is planted to see that the suite finds it. */
export interface PlantedBug {
  readonly name: string
  /** Each text must occur exactly once in its file, which is relative to `src/`. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'left-over-cookie-ignored',
    edits: [
      {
        file: 'source/ldap/search.ts',
        find: 'if (cookie !== undefined && cookie.length > 0) return cookie',
        replace:
          'if (cookie !== undefined && cookie.length > 0) return page.entries < (search.pageSize ?? 0) ? undefined : cookie',
      },
    ],
  },
  {
    name: 'update-404-is-success',
    edits: [
      {
        file: 'target/idempotent.ts',
        find: "    if (!isApiError(error, 'not-found')) throw error\n    return nothingThere(context, 'missing')",
        replace:
          "    if (!isApiError(error, 'not-found')) throw error\n    return { outcome: 'applied', status: error.status }",
      },
    ],
  },
  {
    name: 'no-look-after-lost-answer',
    edits: [
      {
        file: 'target/idempotent.ts',
        find: "if (!isApiError(error) || !(error.maybeDone || error.kind === 'conflict')) throw error",
        replace: "if (!isApiError(error) || error.kind !== 'conflict') throw error",
      },
      {
        file: 'apply/chunk.ts',
        find: 'return unsure || isThereMaybe ||',
        replace: 'return (unsure && isThereMaybe) ||',
      },
    ],
  },
  {
    name: 'older-run-goes-on',
    edits: [
      {
        file: 'store/fenced-run.ts',
        find: 'JOIN dirsyncd.leases l ON l.sync = r.sync AND l.epoch = r.epoch',
        replace: 'JOIN dirsyncd.leases l ON l.sync = r.sync',
      },
      {
        file: 'store/fenced-run.ts',
        find: 'AND r.epoch = ${this.epoch} AND r.finished_at IS NULL',
        replace: 'AND r.epoch = ${this.epoch}',
      },
      {
        file: 'apply/claim.ts',
        find: "if (run.state !== 'applying' || run.stop_code !== null) return undefined",
        replace: 'if (run.stop_code !== null) return undefined',
      },
    ],
  },
  {
    name: 'no-second-look',
    edits: [
      {
        file: 'sync/run.ts',
        find: 'sightings[kind] = await deps.source.lookAgain(kind, candidates[kind], signal)',
        replace:
          "sightings[kind] = await Promise.resolve(new Map(candidates[kind].map((id) => [id, 'gone'] as const)))",
      },
    ],
  },
  {
    name: 'page-forgotten',
    edits: [
      {
        file: 'client/listing.ts',
        find: '({ isSame }: Pages<Item>, read: readonly KeyedPage<Item>[]): Listing<Item> {',
        replace:
          '({ isSame }: Pages<Item>, all: readonly KeyedPage<Item>[]): Listing<Item> {\n  const read = all.map((page, index) => (index === 1 ? { ...page, items: [], keys: [] } : page))',
      },
    ],
  },
  {
    name: 'lost-list-sent-again',
    edits: [
      {
        file: 'target/together/next.ts',
        find: "if (maybeDone) return 'look'",
        replace: "if (maybeDone) return 'halve'",
      },
    ],
  },
  {
    name: 'answer-to-a-list-trusted',
    edits: [
      {
        file: 'target/together/answer.ts',
        find: '    else unclear.push(change)\n',
        replace: '    else yield this.#entries.applied(change, status)\n',
      },
    ],
  },
]
