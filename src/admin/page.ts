import { hash } from 'node:crypto'
import { open, readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/schema.ts'
import { isTileFile } from '../config/tiles.ts'
import { PAGE_DIR } from '../page/build/folder.mjs'
import type { AccessHook } from './operation.ts'

/** `anyTrackerPort`: the port for trackers of any protocol; undefined: there is none. */
export interface PageSettings extends Readonly<Config['page']> {
  readonly anyTrackerPort?: number
}

/** A file of the built page, in memory. */
interface PageFile {
  readonly bytes: Buffer
  readonly type: string
  readonly tag: string
  packed?: Promise<Buffer>
}

/**
 * Serves the built page at `/`, and its files below `/assets/`, without a token: the page asks for one. If the page is not
 * built, `/` says so. A file of tiles needs the permission of `access`.
 */
export async function servePage(app: FastifyInstance, settings: PageSettings, access: AccessHook): Promise<void> {
  const { tiles } = settings
  if (isTileFile(tiles))
    app.get(TILES, { onRequest: access }, (request, reply) => sendPart(tiles, request.headers.range, reply))
  const files = await readPage()
  const index = files.get('/index.html')
  if (!index) {
    const message = 'the page is not built: run `npm run setup`, then start again'
    app.get('/', async (_request, reply) => reply.code(503).send({ message }))
    return
  }
  const html = index.bytes.toString().replace('<!--settings-->', settingsIn(settings))
  const page = fileOf(Buffer.from(html), '.html')
  const policy = contentPolicy(html, settings.tiles)
  app.get('/', (request, reply) =>
    send(page, request, reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })),
  )
  app.get('/assets/*', (request, reply) => {
    const file = files.get(`/assets/${(request.params as { '*': string })['*']}`)
    if (!file) return reply.code(404).send({ message: 'the page has no such file: load it again' })
    return send(file, request, reply.header('cache-control', 'public, max-age=31536000, immutable'))
  })
}

/** All files of the built page by their path; empty if it is not built. */
async function readPage(): Promise<ReadonlyMap<string, PageFile>> {
  const names = await readdir(PAGE_DIR, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(readPageFile)))
}

async function readPageFile(path: string): Promise<readonly [path: string, PageFile]> {
  return [path.slice(PAGE_DIR.length).replaceAll('\\', '/'), fileOf(await readFile(path), extname(path))]
}

function fileOf(bytes: Buffer, extension: string): PageFile {
  return { bytes, type: TYPES[extension] ?? 'application/octet-stream', tag: `"${hash('sha1', bytes)}"` }
}

/** Compresses a file once, at the first request for it. */
async function send(file: PageFile, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.headers({ etag: file.tag, vary: 'accept-encoding' })
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send()
  reply.type(file.type)
  if (!/\bbr\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes)
  file.packed ??= brotli(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } })
  return reply.header('content-encoding', 'br').send(await file.packed)
}

/** Answers a range of a file, never the whole: an archive of tiles may have a hundred gigabytes. */
async function sendPart(path: string, range: string | undefined, reply: FastifyReply): Promise<FastifyReply> {
  const file = await open(path).catch(() => undefined)
  if (!file) return reply.code(404).send({ message: 'the file of page.tiles cannot be read' })
  try {
    const { size, mtimeMs } = await file.stat()
    const [, from, to] = (/^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []).map(Number)
    const end = Math.min(to + 1, size)
    if (!(from < end && end - from <= MOST_PART_BYTES)) {
      const message = `send the header "Range: bytes=FIRST-LAST", with at most ${MOST_PART_BYTES} bytes of the file`
      return reply.code(416).header('content-range', `bytes */${size}`).send({ message })
    }
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - from), 0, end - from, from)
    reply.headers({ 'content-range': `bytes ${from}-${from + bytesRead - 1}/${size}`, 'cache-control': 'no-store' })
    reply.headers({ etag: `"${size}-${mtimeMs}"` }).type('application/octet-stream')
    return await reply.code(206).send(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

/** Settings that the page needs before it has a token. */
function settingsIn({ anyTrackerPort, tiles, attribution, language }: PageSettings): string {
  const more = tiles === null ? [] : [meta('tiles', isTileFile(tiles) ? TILES : tiles)]
  if (attribution !== null) more.push(meta('attribution', attribution))
  if (anyTrackerPort !== undefined) more.push(meta('port', String(anyTrackerPort)))
  return [meta('language', language), ...more].join('\n    ')
}

/** The page runs its own modules and its import map, and asks this port alone, and for tiles their server. */
function contentPolicy(html: string, tiles: string | null): string {
  const map = /<script type="importmap">(.*?)<\/script>/s.exec(html)?.[1] ?? ''
  const server = tiles === null || isTileFile(tiles) ? [] : [new URL(tiles).origin]
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', map, 'base64')}'`,
    "style-src 'self'",
    ["connect-src 'self'", ...server].join(' '),
    ["img-src 'self' data:", ...server].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function meta(name: string, content: string): string {
  return `<meta name="waybridge-${name}" content="${escaped(content)}">`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** The path of a file of tiles. */
const TILES = '/map.pmtiles'
const MOST_PART_BYTES = 4 << 20
const brotli = promisify(brotliCompress)
/** The largest file has a megabyte; the best quality would take seconds. */
const QUALITY = 7
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
