/** When one task fails, the other is aborted and awaited; nothing continues. Throws the first failure. */
export async function bothOrNeither<A, B>(
  start: (signal: AbortSignal) => readonly [Promise<A>, Promise<B>],
  signal: AbortSignal,
): Promise<[A, B]> {
  const failed = new AbortController()
  const [a, b] = start(AbortSignal.any([signal, failed.signal]))
  for (const each of [a, b]) each.catch((error: unknown) => failed.abort(error))
  await Promise.allSettled([a, b])
  signal.throwIfAborted()
  if (failed.signal.aborted) throw failed.signal.reason
  return Promise.all([a, b])
}
