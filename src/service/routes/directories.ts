import { notFound } from '../http/problem.ts'
import * as store from '../store/directories.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

export async function listDirectories(
  { db }: HandlerDeps,
  { organizationId, page }: Call<'listDirectories'>,
): Promise<ResponseOf<'listDirectories'>> {
  return store.listDirectories(db, organizationId, page)
}

export async function getDirectory(
  { db }: HandlerDeps,
  { organizationId, directoryId }: Call<'getDirectory'>,
): Promise<ResponseOf<'getDirectory'>> {
  const directory = await store.findDirectory(db, organizationId, directoryId)
  if (directory === undefined) throw notFound()
  return directory
}
