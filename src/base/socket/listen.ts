import { DirsyncdError, sentence } from '../errors.ts'
import type { Address } from '../yaml/values.ts'

/** Returns the URL. Throws `service-unavailable`, such as for a port that is taken. */
export async function listen(
  app: { listen(options: { host: string; port: number }): Promise<string> },
  { host, port }: Address,
): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw new DirsyncdError(
      'service-unavailable',
      `Cannot listen on ${host}:${port}: ${sentence(error)}. Free the port or choose another one.`,
      { cause: error },
    )
  }
}
