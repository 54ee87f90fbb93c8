import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

interface Asset {
  /** Changes with the content, so that browsers may cache it for ever. */
  readonly path: string
  readonly type: string
  readonly content: string
}

function asset(file: string, type: string): Asset {
  const content = readFileSync(new URL(`assets/${file}`, import.meta.url), 'utf8')
  const [name, extension] = file.split('.')
  return { path: `/assets/${name}-${hash('sha256', content).slice(0, 12)}.${extension}`, type, content }
}

export const ASSETS = {
  style: asset('style.css', 'text/css; charset=utf-8'),
  script: asset('script.js', 'text/javascript; charset=utf-8'),
  icon: asset('icon.svg', 'image/svg+xml'),
}

const FOR_EVER = 'public, max-age=31536000, immutable'

/** Public, because the sign-in page needs it. */
export function addAssets(app: FastifyInstance): void {
  for (const { path, type, content } of Object.values(ASSETS)) {
    app.get(path, { config: { isPublic: true } }, (_request, reply) =>
      reply.header('cache-control', FOR_EVER).type(type).send(content),
    )
  }
}
